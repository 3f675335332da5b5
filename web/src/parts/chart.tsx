// chart.tsx - figures over time: bars and lines with one crosshair, and the same as a table.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { go } from "../base/place";
import { timeForm } from "../base/settings";
import { grouped } from "../base/text";
import { labelled, ticks } from "../base/ticks";
import { duration, inZone } from "../base/time";

export interface Line { label: string; colour: string; values: (number | null)[]; isBar?: boolean }
export interface ChartSpec { id: string; title: string; from: number; stepS: number; lines: Line[]; text: (value: number) => string; link?: (from: number, to: number) => string }

const HEIGHT = 150, LEFT = 52, RIGHT = 8, TOP = 8, BOTTOM = 24, LABEL = 70;

/** The place that is pointed at, in all charts. */
const pointed = signal<number | null>(null);

function clockText(at: number, stepS: number): string {
    const text = inZone(at, timeForm.value === "utc" ? "UTC" : undefined).split(" ");
    return stepS >= 3600 ? `${text[0]} ${text[1]}${stepS < 86_400 ? ` ${text[2]!.slice(0, 5)}` : ""}` : text[2]!.slice(0, 5);
}

function useWidth(): [{ current: HTMLDivElement | null }, number] {
    const place = useRef<HTMLDivElement>(null), [width, setWidth] = useState(0);
    useEffect(() => {
        const element = place.current!, look = () => setWidth(Math.max(160, element.clientWidth)), sizes = new ResizeObserver(look);
        look();
        sizes.observe(element);
        return () => sizes.disconnect();
    }, []);
    return [place, width];
}

function Plot({ spec, width }: { spec: ChartSpec; width: number }) {
    const count = spec.lines[0]!.values.length, wide = width - LEFT - RIGHT, high = HEIGHT - TOP - BOTTOM, slot = wide / Math.max(1, count);
    const levels = ticks(Math.max(0, ...spec.lines.flatMap((line) => line.values.map((it) => it ?? 0)))), most = levels.at(-1)!;
    const x = (index: number): number => LEFT + (index + 0.5) * slot, y = (value: number): number => TOP + high * (1 - value / most), fixed = (value: number): string => value.toFixed(1);
    const bars = (line: Line): string => line.values.map((it, index) => it ? `M${fixed(x(index) - slot * 0.4)} ${fixed(y(it))}h${fixed(Math.min(40, slot * 0.8))}V${fixed(y(0))}h-${fixed(Math.min(40, slot * 0.8))}z` : "").join("");
    const points = (line: Line): [number, number][] => line.values.flatMap((it, index): [number, number][] => it === null ? [] : [[x(index), y(it)]]);
    const indexAt = (event: { currentTarget: Element; clientX: number }): number => Math.max(0, Math.min(count - 1, Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / slot)));
    const at = pointed.value !== null && pointed.value < count ? pointed.value : null, moment = (index: number): number => spec.from + index * spec.stepS * 1000;
    return (
        <svg width={width} height={HEIGHT} class={spec.link ? "linked" : undefined} onPointerMove={(event) => { pointed.value = indexAt(event); }} onPointerLeave={() => { pointed.value = null; }}
             onClick={(event) => { const index = indexAt(event); if (spec.link) go(spec.link(moment(index), moment(index + 1))); }}>
            {levels.map((level) => <g key={level}><line class="level" x1={LEFT} x2={width - RIGHT} y1={y(level)} y2={y(level)} /><text class="tick-label" x={LEFT - 6} y={y(level) + 4} text-anchor="end">{spec.text(level)}</text></g>)}
            {labelled(count, Math.floor(wide / LABEL)).map((index) => <text key={index} class="tick-label" x={Math.min(x(index), width - RIGHT)} y={HEIGHT - 6} text-anchor={x(index) > width - LABEL / 2 ? "end" : "middle"}>{clockText(moment(index), spec.stepS)}</text>)}
            {spec.lines.map((line) => {
                const places = line.isBar ? [] : points(line), style = { color: `var(${line.colour})` };
                return <g key={line.label} style={style}>{line.isBar ? <path class="bars" d={bars(line)} /> : places.length < 3 ? places.map(([left, top]) => <circle key={left} r={2.5} cx={left} cy={top} />) : <polyline points={places.map(([left, top]) => `${fixed(left)},${fixed(top)}`).join(" ")} />}</g>;
            })}
            {at !== null && <line class="cross-hair" x1={x(at)} x2={x(at)} y1={TOP} y2={HEIGHT - BOTTOM} />}
        </svg>
    );
}

export function Chart({ spec }: { spec: ChartSpec }) {
    const [place, width] = useWidth();
    const length = spec.lines[0]?.values.length ?? 0;
    const shown = pointed.value === null ? null : Math.min(pointed.value, length - 1), moment = (index: number) => spec.from + index * spec.stepS * 1000;
    const total = (line: Line): number => line.values.reduce((sum: number, it) => sum + (it ?? 0), 0);
    const last = (line: Line): number | null => [...line.values].reverse().find((it) => it !== null) ?? null;
    const value = (line: Line): string => { const it = shown !== null ? line.values[shown] ?? null : spec.text === count ? total(line) : last(line); return it === null ? "–" : spec.text(it); };
    return (
        <figure class="card chart" data-testid={spec.id}>
            <figcaption class="row between"><b>{spec.title}</b><span class="muted small-text">{shown !== null ? clockText(moment(shown), spec.stepS) : ""}</span></figcaption>
            <p class="keys small-text">{spec.lines.map((line) => <span key={line.label}><i class="key" style={{ background: `var(${line.colour})` }} />{line.label} <b class="num">{value(line)}</b></span>)}</p>
            <div class="plot" ref={place} aria-hidden="true">{width > 0 && length > 0 && <Plot spec={spec} width={width} />}</div>
            <details><summary class="small-text">As a table</summary><div class="scroll"><table class="rows" data-testid="chart-table"><caption class="hidden">{spec.title}</caption><thead><tr><th>from</th>{spec.lines.map((line) => <th key={line.label} class="right">{line.label}</th>)}</tr></thead>
                <tbody>{Array.from({ length }, (_, index) => index).filter((index) => spec.lines.some((line) => line.values[index])).reverse().map((index) => (
                    <tr key={index}><td>{spec.link ? <a href={spec.link(moment(index), moment(index + 1))}>{clockText(moment(index), spec.stepS)}</a> : clockText(moment(index), spec.stepS)}</td>{spec.lines.map((line) => <td key={line.label} class="right num">{line.values[index] === null || line.values[index] === undefined ? "–" : spec.text(line.values[index]!)}</td>)}</tr>))}</tbody></table></div></details>
        </figure>
    );
}

export const count = (value: number): string => grouped(Math.round(value));
export const time = (value: number): string => duration(value);
