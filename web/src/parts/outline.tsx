// outline.tsx - a definition as an indented list, as its file reads.
//
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import type { Element } from "../base/layout";
import { words } from "../base/text";
import { Text } from "./bits";

function list(elements: Element[]): ComponentChildren {
    return <ol class="outline">{elements.map((it) => (
        <li key={it.name}><span class="muted">{words(it.kind)}</span> <b><Text text={it.name} /></b>{it.handler !== it.name && (it.handler ?? it.workflow) && <> <Text text={(it.handler ?? it.workflow)!} mono /></>}{it.isLeft && <span class="muted"> without waiting</span>}{it.undo && <span class="muted"> undone by <Text text={it.undo} mono /></span>}
            {it.lists?.map((inner) => inner.elements.length > 0 && <div key={inner.label}><span class="muted">{Number.isNaN(Number(inner.label)) ? inner.label : `branch ${inner.label}`}</span>{list(inner.elements)}</div>)}
            {it.each && <div><span class="muted">for each element</span>{list(it.each)}</div>}</li>))}</ol>;
}

export const Outline = ({ plan }: { plan: Element[] }) => <div class="card">{list(plan)}</div>;
