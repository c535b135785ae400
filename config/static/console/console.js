// The theme's htmx would write a stylesheet into every page, where none may stand.
htmx.config.includeIndicatorStyles = false;
