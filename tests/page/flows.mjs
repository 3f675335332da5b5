// flows.mjs - workflows that the scenarios share, and short ways to states of them.
//
// SPDX-License-Identifier: Apache-2.0

export const ORDER = `workflow: order
version: 1
dlq: true
steps:
  - step: reserve
    handler: t.reserve
    compensation: {handler: t.release}
  - condition: is_large
    when: "{{ gt .total 1000 }}"
    then:
      - human: approval
  - condition: by_transfer
    when: '{{ eq .pays "transfer" }}'
    then:
      - wait: settled
        event: payment.settled
  - step: ship
    handler: t.ship
    max_attempts: 2
    retry: {backoff: fixed, base: 1h}
`;

export const deploy = (server, text = ORDER) => server.must("POST", "/v1/workflows", text);

export async function start(server, input, key, workflow = "order") {
    if (workflow === "order") await deploy(server);
    return (await server.must("POST", "/v1/instances", `{"workflow":"${workflow}","key":${JSON.stringify(key)},"input":${input}}`)).id;
}

/** Claims what is left of these types and completes it, until nothing is ready. */
export async function drain(server, types) {
    for (;;) {
        const { tasks } = await server.must("POST", "/v1/tasks/claim", { worker: "tester", types, max: 50 });
        if (!tasks.length) return;
        for (const task of tasks) await server.report("complete", { ...task, worker: "tester" }, { output: {} });
    }
}

/** The same order under a name of its own, so that its tasks are nobody else's: t.reserve becomes TAG.reserve. */
export async function ownOrder(server, tag, input, key) {
    await deploy(server, ORDER.replace("workflow: order", `workflow: order_${tag}`).replaceAll("t.re", `${tag}.re`).replaceAll("t.ship", `${tag}.ship`));
    return start(server, input, key, `order_${tag}`);
}
