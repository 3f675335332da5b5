// window.tsx - of a long list only the rows near the eye are in the document.
//
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isBack } from "../base/place";

/** Up to here all rows are drawn. */
const WHOLE = 500, AROUND = 40, GUESS = 36;
/** What stands above a list is no lower. */
const ABOVE = 160;

interface Part { first: number; last: number; height: number }

/** The rows of a table body; `draw` makes one. */
export function Rows<T>({ items, draw, columns }: { items: T[]; draw: (item: T, index: number) => ComponentChildren; columns: number }) {
    const body = useRef<HTMLTableSectionElement>(null);
    const isLong = items.length > WHOLE;
    // First what fits on the screen, so that it is there a frame sooner; all at once for who comes back to where he was.
    const [isFirst, setFirst] = useState(!isBack);
    useEffect(() => setFirst(false), []);
    const [part, setPart] = useState<Part>({ first: 0, last: 2 * AROUND, height: GUESS });
    useEffect(() => {
        if (!isLong) return undefined;
        let frame = 0;
        const look = () => {
            frame = 0;
            const element = body.current;
            if (!element) return;
            const rows = [...element.children].filter((it) => !it.classList.contains("spacer"));
            const first = rows[0]?.getBoundingClientRect(), last = rows.at(-1)?.getBoundingClientRect();
            const height = first && last && rows.length > 1 ? (last.bottom - first.top) / rows.length : GUESS;
            const top = -element.getBoundingClientRect().top / height;
            const from = Math.max(0, Math.floor(top) - AROUND), to = Math.min(items.length, Math.ceil(top + innerHeight / height) + AROUND);
            // At either end none may be missing.
            const isNear = (one: number, other: number, end: number) => one === other || (other !== end && Math.abs(one - other) < AROUND / 2);
            setPart((old) => isNear(old.first, from, 0) && isNear(old.last, to, items.length) && Math.abs(old.height - height) < 1 ? old : { first: from, last: Math.max(to, from + 1), height });
        };
        const onScroll = () => { frame ||= requestAnimationFrame(look); };
        look();
        addEventListener("scroll", onScroll, { passive: true });
        addEventListener("resize", onScroll);
        return () => { removeEventListener("scroll", onScroll); removeEventListener("resize", onScroll); cancelAnimationFrame(frame); };
    }, [isLong, items.length]);
    if (!isLong) return <tbody ref={body}>{(isFirst ? items.slice(0, Math.max(8, Math.ceil((innerHeight - ABOVE) / GUESS))) : items).map(draw)}</tbody>;
    const first = Math.min(part.first, Math.max(0, items.length - AROUND)), last = Math.min(items.length, part.last);
    return (
        <tbody ref={body}>
            {first > 0 && <tr key="before" class="spacer" aria-hidden="true"><td colSpan={columns} style={{ height: `${first * part.height}px` }} /></tr>}
            {items.slice(first, last).map((item, index) => draw(item, first + index))}
            {last < items.length && <tr key="after" class="spacer" aria-hidden="true"><td colSpan={columns} style={{ height: `${(items.length - last) * part.height}px` }} /></tr>}
        </tbody>
    );
}
