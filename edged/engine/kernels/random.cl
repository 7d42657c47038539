/* Random numbers that follow from seed, step and place, so that a step can be done again. */

/* The last part of MurmurHash3 (Appleby): each bit of the argument changes each of the result's half of the time. */
uint mixed(uint bits)
{
    bits = (bits ^ bits >> 16) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
}

uint random_bits(uint seed, uint step, uint place)
{
    return mixed(seed ^ mixed(step ^ mixed(place)));
}
