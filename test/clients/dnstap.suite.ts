/**
 * The dnstap project's collector reads our server's messages. Run by `npm run test:clients`.
 * @module
 */
import { deepEqual } from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { answerOf } from '../real-cluster/asking.ts'
import { prepareDnstap } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { findMissing } from './programs.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const WAIT_MS = 20_000

describeUnless(findMissing('go'), "dnstap's collector", () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-dnstap-'))
  const running: Running[] = []
  const file = (name: string): string => join(folder, name)
  let port = 0

  beforeAll(async () => {
    const dnstap = prepareDnstap()
    const [tapPort, dnsPort] = [await freePort(), await freePort()]
    // The collectors do not report when they listen; the server reconnects.
    running.push(
      start(dnstap, ['-u', file('tap.sock'), '-y', '-w', file('unix.yaml')]),
      start(dnstap, ['-l', `127.0.0.1:${tapPort}`, '-y', '-w', file('tcp.yaml')]),
    )
    const taps = [`dnstap ${file('tap.sock')} full`, `dnstap tcp://127.0.0.1:${tapPort} full`]
    const lines = ['bind 127.0.0.1', ...taps, 'whoami'].map((line) => `  ${line}\n`)
    writeFileSync(file('Corefile'), `. {\n${lines.join('')}}\n`)
    const serve = start(KUBEDOH, ['serve', '--conf', file('Corefile'), '--dns.port', `${dnsPort}`])
    running.push(serve)
    await serve.line(/^ready/)
    port = dnsPort
  })

  afterAll(async () => {
    await Promise.all(running.toReversed().map((one) => one.stop()))
    rmSync(folder, { recursive: true, force: true })
  })

  it('reads queries and responses over a Unix socket and over TCP', async () => {
    await answerOf({ protocol: 'udp', port }, 'www.example.org. A')
    await answerOf({ protocol: 'tcp', port }, 'www.example.org. AAAA')
    for (const name of ['unix.yaml', 'tcp.yaml']) {
      const told = await until(file(name), 4)
      deepEqual(told, ['CLIENT_QUERY', 'CLIENT_RESPONSE', 'CLIENT_QUERY', 'CLIENT_RESPONSE'])
    }
  })
})

/** Waits until a file has this number of messages. @returns their types */
async function until(path: string, count: number): Promise<string[]> {
  const startMs = performance.now()
  for (;;) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const types = [...text.matchAll(/^ {2}type: (\w+)$/gm)]
    if (types.length >= count) return types.map(([, type = '']) => type)
    if (performance.now() - startMs > WAIT_MS) throw new Error(`only this:\n${text}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
