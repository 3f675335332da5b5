// ways.ts - which lines of a plan an instance has gone along, and what of its steps was undone.
//
// SPDX-License-Identifier: Apache-2.0
import { joinName, namesOf, type Drawing, type Element, type Line } from "./layout";

export interface Stand { status: string; error?: string | null; started_at?: string | null }
type Stands = ReadonlyMap<string, Stand>;

/** The name of the row that ends a fork. */
const joinRow = (name: string): string => `${name}_join`;

/** Elements that decide and go on: how long that took says nothing. */
export const AT_ONCE: ReadonlySet<string> = new Set(["condition", "fork", "save_point"]);

/** It has begun; one that failed and was passed over has begun, too. */
export const isEntered = (it: Stand | undefined): boolean => !!it && (it.status === "skipped" ? !!it.error && !!it.started_at : !["pending", ""].includes(it.status));
/** What follows it could begin.  Who completes has no error, whatever came later, and the error of an undo is another. */
const isPassed = (it: Stand | undefined): boolean => !!it && (["completed", "confirmed"].includes(it.status) || (["compensation", "rolled_back", "failed"].includes(it.status) && !it.error));

/** A step that was rolled back is undone if something was called for it: of others only the status says that they are. */
export const isUndone = (element: Element | undefined, it: Stand | undefined): boolean => it?.status === "rolled_back" && !!it.started_at && (!!element?.undo || (!!element && ["start", "map"].includes(element.kind) && !it.error));

/** For each line of a drawing, whether the instance has gone along it. */
export function waysTaken(plan: Element[], drawing: Drawing, stands: Stands): (line: Line) => boolean {
    const elements = new Map<string, Element>(), owners = new Map<string, { element: Element; list: Element[] }>();
    const walk = (list: Element[]) => list.forEach((element) => {
        elements.set(element.name, element);
        element.lists?.forEach((it) => { owners.set(`${element.name}/${it.label}`, { element, list: it.elements }); walk(it.elements); });
    });
    walk(plan);
    const hidden = new Map(drawing.boxes.filter((it) => it.kind === "folded").map((it) => [it.name, it.parts!]));
    const joins = new Map([...elements.keys()].map((name) => [joinName(name), name]));

    const isBegun = (names: string[]): boolean => names.some((name) => isEntered(stands.get(name)));
    const hasLeft = (name: string): boolean => {
        const element = elements.get(name), stand = stands.get(name);
        if (!element?.lists?.length) return isPassed(stand);
        if (element.kind !== "condition") return isPassed(stands.get(joinRow(name)));
        // The list that was begun has ended, or the one that was taken is empty.
        const begun = element.lists.find((it) => isBegun(it.elements.flatMap(namesOf)));
        return isPassed(stand) && (begun ? hasLeft(begun.elements.at(-1)!.name) : element.lists.some((it) => !it.elements.length));
    };
    const isReached = (name: string): boolean => { const parts = hidden.get(name); return parts ? isBegun(parts.flat()) : isEntered(stands.get(name)); };
    const isThrough = (name: string): boolean => { const parts = hidden.get(name); return hasLeft(parts ? parts.at(-1)![0]! : joins.get(name) ?? name); };

    return (line) => {
        const owner = line.list === undefined ? undefined : owners.get(line.list);
        // Into a list: it was begun.  One without elements was taken if none of its neighbours was.
        if (owner?.list.length) return isEntered(stands.get(owner.element.name)) && isBegun(owner.list.flatMap(namesOf));
        if (owner) return isPassed(stands.get(owner.element.name)) && !isBegun(owner.element.lists!.flatMap((it) => it.elements.flatMap(namesOf)));
        return joins.has(line.to) ? isThrough(line.from) : isReached(line.to);
    };
}
