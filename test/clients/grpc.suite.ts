/**
 * DNS over gRPC with the real CoreDNS, as client and as server, plain and over TLS. Run by
 * `npm run test:clients`.
 * @module
 */
import { equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { exchange } from '../../src/server/upstream/exchange.ts'
import { AUTHORITY, CLIENT, SERVER } from '../certificates.ts'
import { freePort } from '../free-port.ts'
import { formatReply } from '../message-text.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILES = {
  'cert.pem': SERVER.cert,
  'key.pem': SERVER.key,
  'client.pem': CLIENT.cert,
  'client-key.pem': CLIENT.key,
  'ca.pem': AUTHORITY,
}
const LONG = 'long.shop.test'
/** Enough addresses for a response of 9 KB. */
const ADDRESSES = Array.from({ length: 600 }, (_, i) => `192.0.${i >>> 8}.${i & 255} ${LONG}`)

/** Blocks that serve over gRPC: plain, over TLS, and over TLS with a client's certificate. */
const served = (ports: readonly number[]): string => `
(names) {
  bind 127.0.0.1
  errors
  hosts {
    192.0.2.34 www.shop.test
    ${ADDRESSES.join('\n    ')}
  }
}
grpc://.:${ports[0]} {
  import names
  grpc_server {
    max_streams 20
  }
}
grpc://.:${ports[1]} {
  import names
  tls cert.pem key.pem
}
grpc://.:${ports[2]} {
  import names
  tls cert.pem key.pem ca.pem {
    client_auth require_and_verify
  }
}
`

/** Blocks that forward over gRPC, one for each way, to the ports of `served`. */
const relaying = (ports: readonly number[], upstreams: readonly number[]): string => `
shop.test.:${ports[0]} {
  bind 127.0.0.1
  errors
  grpc . 127.0.0.1:${upstreams[0]}
}
shop.test.:${ports[1]} {
  bind 127.0.0.1
  errors
  grpc . 127.0.0.1:${upstreams[1]} {
    tls ca.pem
    tls_servername localhost
  }
}
shop.test.:${ports[2]} {
  bind 127.0.0.1
  errors
  grpc . 127.0.0.1:9 127.0.0.1:${upstreams[2]} {
    policy sequential
    tls client.pem client-key.pem ca.pem
    tls_servername localhost
  }
}
`

const WAYS = ['plain', 'over TLS', 'over TLS with a certificate, after a dead upstream'] as const

describe('DNS over gRPC', () => {
  const running: Running[] = []
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-grpc-'))
  const threePorts = (): Promise<number[]> => Promise.all([freePort(), freePort(), freePort()])
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const startOurs = async (name: string, corefile: string): Promise<void> => {
    const ours = start(join(ROOT, 'bin/kubedoh'), ['serve', '--conf', write(name, corefile)])
    running.push(ours)
    await ours.line(/^ready/)
  }
  const startTheirs = async (name: string, corefile: string): Promise<void> => {
    const theirs = start(prepareCoreDns(), ['-conf', write(name, corefile)], {}, folder)
    running.push(theirs)
    await theirs.line(/CoreDNS-/)
  }
  const ask = async (port = 0, name = 'www.shop.test'): Promise<string[]> => {
    const query = writeQuery({ name: nameOf(name), type: TYPE.A, id: 7, flags: 0x100 })
    const upstream = { transport: 'dns', address: '127.0.0.1', port } as const
    return formatReply(await exchange(upstream, query, { protocol: 'tcp', timeoutMs: 20_000 }))
  }

  let ours: number[] = []
  let theirs: number[] = []

  beforeAll(async () => {
    for (const [name, text] of Object.entries(FILES)) write(name, text)
    const [servedByUs, servedByThem] = [await threePorts(), await threePorts()]
    ours = await threePorts()
    theirs = await threePorts()
    await startOurs('served-by-us', served(servedByUs))
    await startTheirs('served-by-them', served(servedByThem))
    await startOurs('from-us', relaying(ours, servedByThem))
    await startTheirs('from-them', relaying(theirs, servedByUs))
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const [i, way] of WAYS.entries()) {
    for (const [direction, ports] of [
      ['from kubedoh to CoreDNS', () => ours],
      ['from CoreDNS to kubedoh', () => theirs],
    ] as const) {
      it(`goes ${direction}, ${way}`, async () => {
        const port = ports()[i]
        const [head = '', ...records] = await ask(port)
        match(head, /^NOERROR/)
        equal(records.join(), 'www.shop.test. 3600 IN A 192.0.2.34')
        equal((await ask(port, LONG)).length, 1 + ADDRESSES.length)
        match((await ask(port, 'no.shop.test'))[0] ?? '', /^(NXDOMAIN|SERVFAIL|REFUSED)/)
      })

      it(`answers a hundred queries at once ${direction}, ${way}`, async () => {
        const port = ports()[i]
        const replies = await Promise.all(Array.from({ length: 100 }, () => ask(port)))
        for (const [head = ''] of replies) match(head, /^NOERROR/)
      })
    }
  }
})
