"""Colours of figures and page.

The hues are those of Okabe and Ito (2008), which people with any of the common colour deficiencies can tell
apart, darkened for white paper and lightened for a dark screen until each stands out by a contrast of 3 : 1
(WCAG 2.2, 1.4.11). What has a colour always has a marker, a dash or a hatch of its own too, so that figures
survive a printer without colours.
"""

ON_LIGHT = ("#0072b2", "#c98500", "#00855f", "#b03a00", "#a8508a", "#3287b8", "#404040")
"""Blue, amber, green, vermilion, purple, sky, grey: for light ground."""
ON_DARK = ("#4fb3f0", "#f0b429", "#2cc295", "#ff8a4c", "#e79ac4", "#a5d8f7", "#d0d0d0")
"""The same for dark ground."""

LIGHT = {
    "ground": "#ffffff",
    "raised": "#f4f6f8",
    "text": "#1a2027",
    "muted": "#52606d",
    "line": "#cbd2d9",
    "link": "#005a9c",
    "good": "#0b6b3a",
    "warn": "#8a5200",
    "warn-ground": "#fff6e5",
    "bad": "#a61b1b",
}
"""The page's colours in light: names are those of its style sheet."""
DARK = {
    "ground": "#14181d",
    "raised": "#1d232a",
    "text": "#e6eaee",
    "muted": "#a3aeb9",
    "line": "#3a444e",
    "link": "#7cc0f5",
    "good": "#5fd39a",
    "warn": "#f2bb62",
    "warn-ground": "#2e2616",
    "bad": "#ff9b94",
}
"""The same in dark."""
