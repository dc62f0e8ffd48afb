/**
 * A server as small as one on `Bun.serve` can be that calls a function for each request:
 * `bare-bun.ts CERT KEY` prints its port.
 * @module
 */
import { readFileSync } from 'node:fs'
import { respond } from './fixed-response.ts'

/** What this module uses of Bun (https://bun.com/reference/bun/serve). */
declare const Bun: {
  readonly serve: (options: {
    readonly hostname: string
    readonly port: number
    readonly http2: boolean
    readonly tls: { readonly cert: string; readonly key: string }
    readonly fetch: typeof respond
  }) => { readonly port: number }
}

const [, , cert = '', key = ''] = process.argv
const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
const { port } = Bun.serve({ hostname: '127.0.0.1', port: 0, http2: true, tls, fetch: respond })
process.stdout.write(`ready: ${port}\n`)
