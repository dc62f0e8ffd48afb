import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { loadCorefile } from '../../../src/server/node/load-corefile.ts'
import { ServeWorker } from '../../../src/server/serve/serve-worker.ts'
import type { FromWorker, ToWorker } from '../../../src/server/serve/worker-messages.ts'
import { serveOptions } from '../../cli/shop.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { askUdp, isServed, queryWith } from '../clients.ts'

type Started = {
  readonly worker: ServeWorker
  readonly said: FromWorker[]
  readonly port: number
  /** Returns the message to serve a Corefile. */
  readonly serving: (text: string) => ToWorker
}

async function start(t: TestContext): Promise<Started> {
  const said: FromWorker[] = []
  const worker = new ServeWorker((message) => said.push(message), process)
  t.onTestFinished(() => worker.handle({ kind: 'stop' }))
  const port = await freePort()
  const serving = (text: string): ToWorker => {
    const folder = temporaryFolder(t, { Corefile: text })
    const options = { ...serveOptions(folder), dnsPort: port }
    // Cloned, as between threads.
    return structuredClone({
      kind: 'serve',
      options,
      corefile: loadCorefile(join(folder, 'Corefile')),
    })
  }
  return { worker, said, port, serving }
}

const block = (...lines: readonly string[]): string =>
  `. {\n  bind 127.0.0.1\n  ${lines.join('\n  ')}\n}\n`

describe('a worker', () => {
  test('serves a Corefile, then replaces it with another', async (t) => {
    const { worker, said, port, serving } = await start(t)
    await worker.handle({ kind: 'query', id: 1, what: 'not-ready' })
    await worker.handle({ kind: 'query', id: 2, what: 'metrics' })
    assert.deepEqual(said.splice(0), [
      { kind: 'reply', id: 1, lines: ['starting'] },
      { kind: 'reply', id: 2, lines: [] },
    ])
    await worker.handle(serving(block('whoami', 'prometheus 127.0.0.1:1', 'ready 127.0.0.1:2')))
    assert.deepEqual(said.splice(0), [{ kind: 'serving', ports: [port] }])
    await askUdp('127.0.0.1', port, queryWith(1))
    await worker.handle({ kind: 'query', id: 3, what: 'metrics' })
    const [answer] = said.splice(0)
    assert.ok(answer?.kind === 'reply')
    assert.match(answer.lines[0] ?? '', /^coredns_dns_requests_total\{/m)
    await worker.handle({ kind: 'query', id: 4, what: 'not-ready' })
    assert.deepEqual(said.splice(0), [{ kind: 'reply', id: 4, lines: [] }])
    await worker.handle(serving(block('hosts {\n 192.0.2.1 a.example.org\n }', 'reload 2s')))
    assert.deepEqual(said.splice(0), [{ kind: 'serving', ports: [port] }])
    await worker.handle({ kind: 'stop' })
    await assert.rejects(isServed(port), { code: 'ECONNREFUSED' })
  })

  test('applies Corefiles in order, and keeps the last valid one', async (t) => {
    const { worker, said, port, serving } = await start(t)
    const wrong = serving(block('kubernetes cluster.local {\n cluster prod\n }', 'hosts none'))
    const messages = [serving(block('whoami')), serving(block('bind 203.0.113.77', 'nosuch'))]
    await Promise.all([...messages, wrong].map((message) => worker.handle(message)))
    const kinds = said.map((message) => message.kind)
    assert.deepEqual(kinds, ['serving', 'failed', 'serving'])
    assert.equal(await isServed(port), true)
  })

  test('waits for the snapshots of the main thread', async (t) => {
    const { worker, said, serving } = await start(t)
    await worker.handle(serving(block('kubernetes cluster.local', 'ready 127.0.0.1:2')))
    await worker.handle({ kind: 'query', id: 1, what: 'not-ready' })
    assert.deepEqual(said.at(-1), { kind: 'reply', id: 1, lines: ['kubernetes'] })
  })
})
