/**
 * `https://` server blocks of `kubedoh serve` on runtimes other than Node, which answer by the
 * runtime's own HTTP server. Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, it } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { SERVER } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { BUN, DENO, missingRuntime } from '../runtimes.ts'

const RUN = join(import.meta.dirname, '../../src/cli/run.ts')
const OBJECTS = `apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: Namespace, metadata: { name: shop } }
  - apiVersion: v1
    kind: Service
    metadata: { name: web, namespace: shop }
    spec: { clusterIP: 192.0.2.10, ports: [{ name: http, port: 80, protocol: TCP }] }
`

/** Blocks chosen by the client's address, and one whose bounds Node's modules keep. */
const COREFILE = `https://.:PORT1 {
  bind 127.0.0.1
  tls cert key
  view other {
    expr client_ip() != '127.0.0.1'
  }
  erratic
}
https://.:PORT1 {
  bind 127.0.0.1
  tls cert key
  kubernetes cluster.local
  whoami
}
https://.:PORT2 {
  bind 127.0.0.1
  tls cert key
  timeouts {
    read 5s
  }
  kubernetes cluster.local
}
`

for (const runtime of [BUN, DENO]) {
  describeUnless(missingRuntime(runtime), `https:// blocks of serve on ${runtime.name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-serve-'))
    const ports: number[] = []
    let server: Running | undefined
    beforeAll(async () => {
      ports.push(await freePort(), await freePort())
      const corefile = ports.reduce(
        (text, port, i) => text.replaceAll(`PORT${i + 1}`, String(port)),
        COREFILE,
      )
      const files = { Corefile: corefile, 'objects.yaml': OBJECTS, ...SERVER }
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      const args = ['serve', '--conf', 'Corefile', '--objects', 'objects.yaml']
      const paths = args.map((arg) => (arg in files ? join(folder, arg) : arg))
      server = start(runtime.command, [...runtime.args, RUN, ...paths], {})
      await server.line(/^ready/)
    })
    afterAll(async () => {
      await server?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    // Deno's `node:http2` is broken, so what Node's modules serve there has HTTP/1.1 only.
    const blocks = runtime === BUN ? ['a plain block', 'a block with timeouts'] : ['a plain block']
    for (const [i, what] of blocks.entries()) {
      it(`${what} answers GET and POST`, async () => {
        const session = connect(`https://127.0.0.1:${ports[i]}`, { rejectUnauthorized: false })
        try {
          const { message } = parseQuestion('web.shop.svc.cluster.local A')
          const reply = ['NOERROR aa rd', 'web.shop.svc.cluster.local. 5 IN A 192.0.2.10']
          assert.deepEqual(await ask(session, message, 'GET'), reply)
          assert.deepEqual(await ask(session, message, 'POST'), reply)
        } finally {
          session.destroy()
        }
      })
    }
  })
}

async function ask(
  session: ClientHttp2Session,
  message: Uint8Array,
  method: 'GET' | 'POST',
): Promise<string[]> {
  const isGet = method === 'GET'
  const path = isGet ? `/dns-query?dns=${encodeBase64url(message)}` : '/dns-query'
  const stream = session.request({
    ':method': method,
    ':path': path,
    ...(isGet ? {} : { 'content-type': 'application/dns-message' }),
    ...(isGet ? {} : { 'content-length': message.length }),
  })
  stream.end(isGet ? undefined : message)
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 200)
  return formatReply(await buffer(stream))
}
