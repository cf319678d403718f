"""The console's icons: strokes on a grid of 16 by 16."""

from collections.abc import Mapping
from typing import Final

ICONS: Final[Mapping[str, str]] = {
    "bell": '<path d="M8 2a4 4 0 0 0-4 4v3l-1.5 2.5h11L12 9V6a4 4 0 0 0-4-4zM6.5 13.5a1.6 1.6 0 0 0 3 0"/>',
    "home": '<path d="M2 8l6-5.5L14 8M3.5 7v6.5h3.5V10h2v3.5h3.5V7"/>',
    "pulse": '<path d="M1.5 8.5h3l2-5.5 3 10.5 2-5h3"/>',
    "flame": '<path d="M8 1.5c.5 3 4.5 4.5 4.5 8.2A4.5 4.5 0 0 1 8 14.5a4.5 4.5 0 0 1-4.5-4.8'
    'c0-1.7 1-2.7 1.7-3.7.4 1.5 1.3 1.8 1.8 1.8C6.5 5 7.3 3 8 1.5z"/>',
    "page": '<path d="M2.5 2.5h11v11h-11zM2.5 6h11M6 6v7.5"/>',
    "gear": '<circle cx="8" cy="8" r="2.2"/><path d="M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4'
    'M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4"/>',
    "key": '<circle cx="5" cy="11" r="3"/><path d="M7.2 8.8L13.5 2.5M11 5l2 2"/>',
    "people": '<circle cx="6" cy="5" r="2.5"/><path d="M1.5 13.5c0-2.5 2-4.2 4.5-4.2s4.5 1.7 4.5 4.2'
    'M11 2.8a2.3 2.3 0 0 1 0 4.4M12.2 9.6c1.5.6 2.3 2 2.3 3.9"/>',
    "probe": '<circle cx="8" cy="8" r="1.5"/><path d="M5 11a4.2 4.2 0 0 1 0-6M11 5a4.2 4.2 0 0 1 0 6'
    'M3 13a7 7 0 0 1 0-10M13 3a7 7 0 0 1 0 10"/>',
    "log": '<path d="M3.5 1.5h9v13h-9zM6 5h4M6 8h4M6 11h2.5"/>',
    "info": '<circle cx="8" cy="8" r="6.5"/><path d="M8 7.3v4M8 4.6v.4"/>',
    "team": '<path d="M2 14V5.5L8 2l6 3.5V14zM6 14v-4h4v4"/>',
    "user": '<circle cx="8" cy="5.5" r="3"/><path d="M2.5 14.5c0-3 2.5-5 5.5-5s5.5 2 5.5 5"/>',
    "moon": '<path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z"/>',
    "out": '<path d="M6.5 2.5h-4v11h4M10.5 5l3 3-3 3M13.5 8h-8"/>',
    "plus": '<path d="M8 3v10M3 8h10"/>',
    "check": '<path d="M3 8.5l3.5 3.5L13 4.5"/>',
    "cross": '<path d="M3.5 3.5l9 9M12.5 3.5l-9 9"/>',
    "warn": '<path d="M8 2L1.5 13.5h13zM8 6.5v3.5M8 11.6v.4"/>',
    "copy": '<path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3"/>',
    "left": '<path d="M10 3L5 8l5 5"/>',
    "right": '<path d="M6 3l5 5-5 5"/>',
    "search": '<circle cx="7" cy="7" r="4.5"/><path d="M10.5 10.5l3.5 3.5"/>',
    "globe": '<circle cx="8" cy="8" r="6.3"/><path d="M1.7 8h12.6M8 1.7c4 4 4 8.6 0 12.6'
    'M8 1.7c-4 4-4 8.6 0 12.6"/>',
    "plug": '<path d="M6 1.5v3.5M10 1.5v3.5M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5v3"/>',
    "lock": '<path d="M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2M8 9.5v1.5"/>',
    "swap": '<path d="M2 5.5h11M10 2.5l3 3-3 3M14 10.5H3M6 7.5l-3 3 3 3"/>',
    "mail": '<path d="M1.5 3.5h13v9h-13zM1.5 4l6.5 5 6.5-5"/>',
    "database": '<ellipse cx="8" cy="3.8" rx="5.5" ry="2.2"/><path d="M2.5 3.8v8.4c0 1.2 2.5 2.2 5.5 2.2'
    's5.5-1 5.5-2.2V3.8M2.5 8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2"/>',
    "heart": '<path d="M8 13.8S1.8 10 1.8 5.8A3.2 3.2 0 0 1 8 4.3'
    'a3.2 3.2 0 0 1 6.2 1.5C14.2 10 8 13.8 8 13.8z"/>',
    "chart": '<path d="M2 2v12h12M5 11V8M8.5 11V4.5M12 11V6.5"/>',
    "inbox": '<path d="M2 9l2-6.5h8L14 9v4.5H2zM2 9h3.5l1 2h3l1-2H14"/>',
    "chain": '<path d="M6.5 9.5l3-3M7 4.5l1.8-1.8a2.8 2.8 0 0 1 4.2 4.2L11 8.7'
    'M9 11.5l-1.8 1.8A2.8 2.8 0 0 1 3 9.1L5 7.3"/>',
    "keys": '<path d="M1.5 4h13v8h-13zM4 6.5h.5M7 6.5h.5M10 6.5h.5M12 6.5h.2M5 9.5h6"/>',
}
