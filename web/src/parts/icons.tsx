// icons.tsx - the icons, 16 by 16, in the colour of the text beside them.
//
// SPDX-License-Identifier: Apache-2.0

const PATHS: Record<string, string> = {
    ring: "M8 2.500a5.500 5.500 0 1 0 0 11a5.500 5.500 0 1 0 0-11",
    dotted: "M8 2.500a5.500 5.500 0 1 0 0 11a5.500 5.500 0 1 0 0-11",
    disc: "M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10",
    dots: "M3 8h.01M8 8h.01M13 8h.01",
    head: "M8 2.500a2.700 2.700 0 1 0 0 5.400a2.700 2.700 0 1 0 0-5.400M3 13.500c.5-3 2.500-4.200 5-4.200s4.500 1.200 5 4.200",
    bars: "M5.500 3.500v9M10.500 3.500v9",
    undo: "M6 3.500L3 6.500l3 3M3.200 6.500H10a3 3 0 0 1 0 6H6.500",
    tick: "M3 8.500l3.200 3.200L13 4.800",
    cross: "M4 4l8 8M12 4l-8 8",
    tray: "M2.500 9.500l2-6h7l2 6v3.500h-11zM2.500 9.500h3.500l1 1.500h2l1-1.500h3.500",
    dash: "M3.500 8h9",
    home: "M2.500 8L8 3l5.500 5M4 7v6h8V7",
    list: "M2.500 4h11M2.500 8h11M2.500 12h11",
    jobs: "M3 3.500h10v3H3zM3 9.500h10v3H3z",
    flow: "M2.500 4.500h4v3h-4zM9.500 2.500h4v3h-4zM9.500 9.500h4v3h-4zM6.500 6h1.500V4h1.500M8 6v5h1.500",
    code: "M5.500 4.500L2 8l3.500 3.500M10.500 4.500L14 8l-3.500 3.500",
    gear: "M8 5.500a2.500 2.500 0 1 0 0 5a2.500 2.500 0 1 0 0-5M8 1.500v2M8 12.500v2M1.500 8h2M12.500 8h2M3.400 3.400l1.400 1.400M11.200 11.200l1.400 1.400M12.600 3.400l-1.400 1.400M4.800 11.200l-1.400 1.400",
    workers: "M3 13c0-2 1.300-3.200 3-3.200S9 11 9 13M6 4.500a2.200 2.200 0 1 0 0 4.400a2.200 2.200 0 1 0 0-4.400M10.500 5a1.800 1.800 0 1 1 0 3.700M11 10c1.500 0 2.500 1.200 2.500 3",
    more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
    search: "M7 2.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 1 0 0-9M10.300 10.300L14 14",
    copy: "M5.500 5.500h7v7h-7zM3.500 10.500v-7h7",
    clock: "M8 2.500a5.500 5.500 0 1 0 0 11a5.500 5.500 0 1 0 0-11M8 5v3.200l2.200 1.300",
    theme: "M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11",
    close: "M4 4l8 8M12 4l-8 8",
    plus: "M8 3v10M3 8h10",
    down: "M4 6l4 4l4-4",
    right: "M6 4l4 4l-4 4",
    envelope: "M2.500 4h11v8h-11zM2.500 4.500L8 9l5.500-4.500",
    hourglass: "M4 2.500h8M4 13.500h8M5 2.500c0 3 3 4 3 5.500s-3 2.500-3 5.500M11 2.500c0 3-3 4-3 5.500s3 2.500 3 5.500",
    diamond: "M8 2.500L13.500 8L8 13.500L2.500 8z",
    fork: "M3 8h4M7 8c2 0 2-4 6-4M7 8c2 0 2 4 6 4",
    flag: "M4 14V3h8l-2 2.500L12 8H4",
    box: "M3 4h10v8H3z",
    child: "M3 2.500h5v4H3zM8 9.500h5v4H8zM5.500 6.500v5H8",
    stack: "M2.500 2.500h8v5h-8zM5 7.500v2.700h8V5h-2.500M7.500 10.200v3H14V8",
};

const THICK = new Set(["dots", "more"]);
const FILLED = new Set(["disc"]);

export function Icon({ name, label, size = 16 }: { name: string; label?: string; size?: number }) {
    return (
        <svg class="icon" width={size} height={size} viewBox="0 0 16 16" fill={FILLED.has(name) ? "currentColor" : "none"} stroke="currentColor"
             stroke-width={THICK.has(name) ? 2.4 : 1.5} stroke-linecap="round" stroke-linejoin="round"
             stroke-dasharray={name === "dotted" ? "2 2.500" : undefined}
             {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" })}>
            <path d={PATHS[name] ?? PATHS["box"]!} />
        </svg>
    );
}
