/**
 * Changing keys of a real etcd, compared with the `etcd` plugin of a real CoreDNS.
 * `test/differential/places/etcd` compares the kinds of keys.
 * @module
 */
import { deepEqual, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { AUTHORITY, CLIENT, SERVER } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { answerOf, type QuestionText, type Server } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { Etcd, type EtcdOptions } from './etcd.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const SETTLE_MS = 20_000
const SAMPLES = 15
const PASSWORD = 'open sesame'

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

/** One etcd, and both servers that read it. */
type Place = {
  readonly etcd: Etcd
  readonly coredns: Server
  readonly kubedoh: Server
  readonly running: readonly Running[]
}

async function open(etcd: Etcd, folder: string, options: readonly string[]): Promise<Place> {
  if (typeof binaries === 'string') throw new Error(binaries)
  const corefile = join(folder, `Corefile-${await freePort()}`)
  const lines = [`endpoint ${etcd.url}`, ...options].join('\n    ')
  writeFileSync(corefile, `live.test {\n  bind 127.0.0.1\n  etcd {\n    ${lines}\n  }\n}\n`)
  const [dns, port] = [await freePort(), await freePort()]
  const coredns = start(binaries.coredns, ['-conf', corefile, '-dns.port', String(dns)])
  const kubedoh = start(KUBEDOH, ['serve', '--conf', corefile, '--dns.port', String(port)])
  await Promise.all([coredns.line(/CoreDNS-/), kubedoh.line(/^ready/)])
  return {
    etcd,
    coredns: { protocol: 'udp', port: dns },
    kubedoh: { protocol: 'udp', port },
    running: [coredns, kubedoh],
  }
}

async function close(place: Place | undefined): Promise<void> {
  await Promise.all(place?.running.map((one) => one.stop()) ?? [])
}

/** Waits until a server returns the expected response. @returns the time in milliseconds */
async function until(
  server: Server,
  question: QuestionText,
  isWanted: (text: string) => boolean,
): Promise<number> {
  const startMs = performance.now()
  for (;;) {
    const text = (await answerOf(server, question)).join('\n')
    const tookMs = performance.now() - startMs
    if (isWanted(text)) return tookMs
    if (tookMs > SETTLE_MS) throw new Error(`${question} stays\n${text}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** Queries until our response is the expected one, then compares it with CoreDNS's. */
async function same(place: Place, question: QuestionText, wanted: RegExp): Promise<void> {
  await until(place.kubedoh, question, (text) => wanted.test(text))
  deepEqual(await answerOf(place.kubedoh, question), await answerOf(place.coredns, question))
}

describeUnless(skip, 'keys of a real etcd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-etcd-suite-'))
  let etcd: Etcd | undefined
  let place: Place

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    etcd = await Etcd.start(binaries.etcd)
    place = await open(etcd, folder, ['max-lease-ttl 1h'])
  })

  afterAll(async () => {
    await close(place)
    await etcd?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('are served as soon as they are written', async () => {
    const { etcd, kubedoh, coredns } = place
    const times: number[] = []
    for (let i = 0; i < SAMPLES; i++) {
      const host = `192.0.2.${i + 1}`
      await etcd.put('/skydns/test/live/www', { host, port: i + 1 })
      times.push(await until(kubedoh, 'www.live.test. A', (text) => text.endsWith(host)))
      for (const type of ['A', 'SRV', 'TXT'] as const) {
        const question: QuestionText = `www.live.test. ${type}`
        deepEqual(await answerOf(kubedoh, question), await answerOf(coredns, question))
      }
    }
    const median = times.sort((a, b) => a - b)[SAMPLES >> 1] ?? Number.NaN
    process.stdout.write(`key written: answered within ${median.toFixed(0)} ms (median)\n`)
    ok(median < 500)
  })

  it('are dropped when deleted', async () => {
    await place.etcd.put('/skydns/test/live/gone', { host: '192.0.2.20' })
    await same(place, 'gone.live.test. A', /192\.0\.2\.20/)
    await place.etcd.delete('/skydns/test/live/gone')
    await same(place, 'gone.live.test. A', /^NXDOMAIN/)
  })

  it('get bounded TTLs from their lease, and expire with it', async () => {
    for (const [seconds, least, most] of [
      [20, 30, 30],
      [600, 580, 600],
      [90_000, 3600, 3600],
    ] as const) {
      const lease = await place.etcd.grant(seconds)
      await place.etcd.put('/skydns/test/live/leased', { host: '192.0.2.30' }, lease)
      for (const server of [place.coredns, place.kubedoh]) {
        // The remaining time of a lease arrives shortly after the key.
        await until(server, 'leased.live.test. A', (text) => {
          const ttl = Number(/ (\d+) IN A /.exec(text)?.[1])
          return least <= ttl && ttl <= most
        })
      }
      await place.etcd.revoke(lease)
      await same(place, 'leased.live.test. A', /^NXDOMAIN/)
    }
  })

  it('stay served while etcd is unavailable, and catch up afterwards', async () => {
    const { etcd, kubedoh } = place
    await etcd.put('/skydns/test/live/steady', { host: '192.0.2.40' })
    await same(place, 'steady.live.test. A', /192\.0\.2\.40/)
    await etcd.pause()
    match((await answerOf(kubedoh, 'steady.live.test. A')).join('\n'), /192\.0\.2\.40/)
    await etcd.resume()
    await etcd.put('/skydns/test/live/after', { host: '192.0.2.41' })
    await same(place, 'after.live.test. A', /192\.0\.2\.41/)
  })

  it('survive a compaction during an outage', async () => {
    const { etcd } = place
    await etcd.pause()
    await etcd.resume()
    for (let i = 0; i < 10; i++) await etcd.put('/skydns/test/live/many', { host: `192.0.2.${i}` })
    await etcd.delete('/skydns/test/live/steady')
    await etcd.compact()
    await same(place, 'many.live.test. A', /192\.0\.2\.9$/m)
    await same(place, 'steady.live.test. A', /^NXDOMAIN/)
  })
})

describeUnless(skip, 'a real etcd with authentication', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-etcd-suite-'))
  const file = (name: string): string => join(folder, name)
  const tls = { cert: file('server.pem'), key: file('server.key'), ca: file('ca.pem') }
  const closing: (() => Promise<void>)[] = []

  beforeAll(() => {
    const files = {
      'ca.pem': AUTHORITY,
      'server.pem': SERVER.cert,
      'server.key': SERVER.key,
      'client.pem': CLIENT.cert,
      'client.key': CLIENT.key,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text)
  })

  afterAll(async () => {
    for (const end of closing.toReversed()) await end()
    rmSync(folder, { recursive: true, force: true })
  })

  const follows = async (etcd: Etcd, ...options: string[]): Promise<void> => {
    const place = await open(etcd, folder, options)
    closing.push(() => close(place))
    await same(place, 'www.live.test. A', /192\.0\.2\.1$/m)
    await etcd.put('/skydns/test/live/www', { host: '192.0.2.2' })
    await same(place, 'www.live.test. A', /192\.0\.2\.2$/m)
  }

  const startEtcd = async (options: EtcdOptions): Promise<Etcd> => {
    if (typeof binaries === 'string') throw new Error(binaries)
    const etcd = await Etcd.start(binaries.etcd, options)
    closing.push(() => etcd.stop())
    await etcd.put('/skydns/test/live/www', { host: '192.0.2.1' })
    return etcd
  }

  it('is reached with a client certificate', async () => {
    const etcd = await startEtcd({ tls, wantsCertificates: true })
    await follows(etcd, `tls ${file('client.pem')} ${file('client.key')} ${file('ca.pem')}`)
  })

  it('is reached with a password', async () => {
    const etcd = await startEtcd({ tls })
    await etcd.enableAuthentication(PASSWORD)
    await follows(etcd, `tls ${file('ca.pem')}`, `credentials root "${PASSWORD}"`)
  })
})
