/**
 * A program: clients of a gateway, one each 60 ms, each with a connection of its own, until
 * standard input ends. A client whose request fails sends it again, at most four times. Prints a
 * {@link ClientCounts} as JSON.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Asked, ask } from './gateway-request.ts'

/** How the requests ended. */
export type ClientCounts = {
  clients: number
  /** Requests that failed. */
  failed: number
  /** Most requests that failed for one client. */
  worst: number
  /** Responses with another address, or another status. */
  wrong: number
  /** Why requests failed, and what wrong responses said. */
  readonly reasons: Record<string, number>
}

const PAUSE_MS = 60
const ATTEMPTS_MAX = 5

async function askUntilAnswered(asked: Asked, turn: number, counts: ClientCounts): Promise<void> {
  const [name, address] = asked.names[turn % asked.names.length] ?? ['', '']
  const count = (reason: string): void => {
    counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1
  }
  for (let failures = 0; failures < ATTEMPTS_MAX; failures++) {
    try {
      const response = await ask(asked, name)
      if (response.includes(`"data":"${address}"`)) return
      counts.wrong++
      return count(response.slice(0, 200))
    } catch (error) {
      counts.failed++
      counts.worst = Math.max(counts.worst, failures + 1)
      count(String(error))
      await sleep(PAUSE_MS)
    }
  }
}

async function main(text: string): Promise<void> {
  const asked: Asked = JSON.parse(text)
  const counts: ClientCounts = { clients: 0, failed: 0, worst: 0, wrong: 0, reasons: {} }
  const pending = new Set<Promise<void>>()
  let isOver = false
  process.stdin.resume().once('end', () => {
    isOver = true
  })
  while (!isOver) {
    const client = askUntilAnswered(asked, counts.clients++, counts)
    pending.add(client)
    void client.finally(() => pending.delete(client))
    await sleep(PAUSE_MS)
  }
  await Promise.all(pending)
  process.stdout.write(JSON.stringify(counts))
}

await main(process.argv[2] ?? '{}')
