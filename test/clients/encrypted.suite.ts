/**
 * Real clients against `tls://` and `https://` server blocks, with CoreDNS as client and as
 * upstream. Run by `npm run test:clients`.
 * @module
 */
import { match, rejects } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { AUTHORITY, CLIENT, SERVER } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { findMissing, shell } from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILES = {
  'cert.pem': SERVER.cert,
  'key.pem': SERVER.key,
  'client.pem': CLIENT.cert,
  'client-key.pem': CLIENT.key,
  'ca.pem': AUTHORITY,
}
const NAME = 'www.shop.test'
const ADDRESS = /192\.0\.2\.34/

/** Server blocks that answer over TLS, over HTTPS, and over TLS with a client certificate. */
const servedBlocks = (ports: readonly number[]): string => `
(www) {
  bind 127.0.0.1
  hosts {
    192.0.2.34 ${NAME}
  }
}
tls://.:${ports[0]} {
  import www
  tls cert.pem key.pem
}
https://.:${ports[1]} {
  import www
  tls cert.pem key.pem
}
tls://.:${ports[2]} {
  import www
  tls cert.pem key.pem ca.pem {
    client_auth require_and_verify
  }
}
`

/** Server blocks that forward, one per transport. */
const relayingBlocks = (ports: readonly number[], upstreams: readonly number[]): string => `
.:${ports[0]} {
  bind 127.0.0.1
  forward . tls://127.0.0.1:${upstreams[0]} {
    tls ca.pem
    tls_servername localhost
  }
}
.:${ports[1]} {
  bind 127.0.0.1
  forward . https://127.0.0.1:${upstreams[1]} {
    tls ca.pem
    tls_servername localhost
  }
}
.:${ports[2]} {
  bind 127.0.0.1
  forward . tls://127.0.0.1:${upstreams[2]} {
    tls client.pem client-key.pem ca.pem
  }
}
`

describe('clients over TLS and HTTPS', () => {
  const running: Running[] = []
  let folder = ''

  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const threePorts = (): Promise<number[]> => Promise.all([freePort(), freePort(), freePort()])
  const serveOurs = async (corefile: string): Promise<void> => {
    const ours = start(join(ROOT, 'bin/kubedoh'), ['serve', '--conf', corefile])
    running.push(ours)
    await ours.line(/^ready/)
  }
  const serveTheirs = async (corefile: string): Promise<void> => {
    const theirs = start(prepareCoreDns(), ['-conf', corefile], {}, folder)
    running.push(theirs)
    await theirs.line(/CoreDNS-/)
  }

  let ports: number[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubedoh-encrypted-'))
    for (const [name, text] of Object.entries(FILES)) write(name, text)
    ports = await threePorts()
    await serveOurs(write('Corefile', servedBlocks(ports)))
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  describeUnless(findMissing('kdig'), 'kdig', () => {
    const ask = (way: string, port: number | undefined): Promise<string> =>
      shell(`kdig @127.0.0.1 -p ${port} ${way} +tls-ca=${folder}/ca.pem ${NAME} A`)

    it('reads a response over TLS from a trusted server', async () => {
      const text = await ask('+tls +tls-hostname=localhost +padding', ports[0])
      match(text, ADDRESS)
      match(text, /TLS session \(TLS1\.3\)/)
      match(text, /PADDING: \d+ B/)
    })

    it('reads many responses on one connection', async () => {
      match(await ask(`+tls +tls-hostname=localhost +keepopen ${NAME} A`, ports[0]), ADDRESS)
    })

    it('rejects a certificate for another name', async () => {
      await rejects(ask('+tls +tls-hostname=other.test', ports[0]))
    })

    for (const way of ['+https', '+https-get']) {
      it(`reads a response by ${way}, over HTTP/2`, async () => {
        const text = await ask(`${way} +tls-hostname=localhost`, ports[1])
        match(text, ADDRESS)
        match(text, /HTTP session \(HTTP\/2/)
      })
    }

    it('is served with a client certificate where one is required', async () => {
      const files = `+tls-certfile=${folder}/client.pem +tls-keyfile=${folder}/client-key.pem`
      match(await ask(`+tls +tls-hostname=localhost ${files}`, ports[2]), ADDRESS)
      await rejects(ask('+tls +tls-hostname=localhost', ports[2]))
    })
  })

  describeUnless(findMissing('dig'), 'dig', () => {
    for (const [way, i] of [
      ['+tls', 0],
      ['+https', 1],
      ['+https-get', 1],
    ] as const) {
      it(`reads a response by ${way}`, async () => {
        const trust = `+tls-ca=${folder}/ca.pem +tls-hostname=localhost`
        match(await shell(`dig @127.0.0.1 -p ${ports[i]} ${way} ${trust} ${NAME} A`), ADDRESS)
      })
    }
  })

  describeUnless(findMissing('curl'), 'curl', () => {
    it('resolves through an https:// block', async () => {
      const doh = `--doh-url https://localhost:${ports[1]}/dns-query --doh-insecure`
      const text = await shell(`curl -sv -m 3 ${doh} http://${NAME}:1/ 2>&1 || true`)
      match(text, ADDRESS)
    })
  })

  describeUnless(findMissing('go') ?? findMissing('dig'), 'CoreDNS', () => {
    const readThrough = async (relays: readonly number[]): Promise<void> => {
      for (const port of relays) {
        match(await shell(`dig @127.0.0.1 -p ${port} ${NAME} A`), ADDRESS)
        match(await shell(`dig @127.0.0.1 -p ${port} +tcp ${NAME} A`), ADDRESS)
      }
    }

    it('forwards to our blocks over TLS, over HTTPS and with a certificate', async () => {
      const relays = await threePorts()
      await serveTheirs(write('Corefile.theirs', relayingBlocks(relays, ports)))
      await readThrough(relays)
    })

    it('is an upstream of ours in the same ways', async () => {
      const theirs = await threePorts()
      await serveTheirs(write('Corefile.upstream', servedBlocks(theirs)))
      const relays = await threePorts()
      await serveOurs(write('Corefile.ours', relayingBlocks(relays, theirs)))
      await readThrough(relays)
    })
  })
})
