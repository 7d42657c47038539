# What tools/*.sh share: they say what they do, and for how long they have been doing it.

say() { printf 'edged: %s\n' "$*" >&2; }

# is_locked VENV: whether it gets the versions of requirements/*.lock. They are for Python 3.11 to 3.14; LOCK=no declines.
is_locked() {
    [ "${LOCK:-yes}" != no ] && "$1/bin/python" -c 'import sys; sys.exit(sys.version_info >= (3, 15))'
}

# step WORDS COMMAND…: the words at once, then on a terminal one line that counts the seconds and shows the last word
# of the command, elsewhere a line every ten seconds. What the command wrote is shown where it fails. Ctrl-C ends both.
step() {
    local words=$1 begin=$SECONDS shown=0 log child status=0
    shift
    say "$words"
    log=$(mktemp)
    "$@" >"$log" 2>&1 &
    child=$!
    trap 'kill "$child" 2>/dev/null || true; wait "$child" 2>/dev/null || true; rm -f "$log"; exit 130' INT TERM
    while kill -0 "$child" 2>/dev/null; do
        sleep 0.2
        [ $((SECONDS - begin)) -gt "$shown" ] || continue
        shown=$((SECONDS - begin))
        show_progress "$shown" "$(grep -v WARNING "$log" | tail -n 1 | cut -c 1-60 || true)"
    done
    wait "$child" || status=$?
    trap - INT TERM
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
    if [ "$status" = 0 ]; then say "  done in $((SECONDS - begin)) s"; else cat "$log" >&2; fi
    rm -f "$log"
    return "$status"
}

show_progress() {
    if [ -t 2 ]; then
        printf '\r\033[Kedged:   %s s: %s' "$1" "$2" >&2
    elif [ $(($1 % 10)) = 0 ]; then
        say "  $1 s: $2"
    fi
}
