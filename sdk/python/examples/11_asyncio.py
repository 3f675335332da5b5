import asyncio
import cairn

app = cairn.App()

@app.task("page.fetch.v1")
async def fetch(path: str) -> int:
    await asyncio.sleep(0.01)
    return len(path)

@app.task("page.parse.v1")
def parse(path: str) -> str:            # a sync handler beside it: runs in a thread
    return path.upper()

async def main() -> None:
    async with cairn.aio.open("memory:") as db:
        async with db.worker(app, concurrency=100, grace="30s"):     # leaving it lets handlers finish
            pages = await db.enqueue_many([cairn.JobSpec(fetch, f"/page/{i}") for i in range(100)])
            print(sum(await asyncio.gather(*(page.result(timeout=10) for page in pages))))
            print(await (await db.enqueue(parse, "/a")).result(timeout=10))

asyncio.run(main())
# 790
# /A
