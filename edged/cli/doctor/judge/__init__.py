"""Judge the facts: functions on values, a module for each part of the page. `board` puts them together."""
