/**
 * A request to a gateway over a connection of its own, from the network of the process.
 * @module
 */
import { readFileSync } from 'node:fs'
import { request } from 'node:https'

/** A gateway, and what is asked of it. */
export type Asked = {
  readonly host: string
  readonly port: number
  /** Name in the gateway's certificate. */
  readonly servername: string
  /** Path of the authority's certificate. */
  readonly ca: string
  readonly token: string
  /** Names with their only address, asked in turns. */
  readonly names: readonly (readonly [name: string, address: string])[]
}

const TIMEOUT_MS = 5000

/** Asks for the addresses of a name. @returns the status and the body */
export function ask(
  { host, port, servername, ca: path, token }: Asked,
  name: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, host: servername }
    const options = {
      ...{ host, port, servername, headers, agent: false, timeout: TIMEOUT_MS },
      path: `/resolve?name=${name}&type=A`,
      ca: readFileSync(path, 'utf8'),
    }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.once('end', () => resolve(`${response.statusCode} ${text}`))
      response.once('error', reject)
    })
    sent.once('timeout', () => sent.destroy(new Error('timeout')))
    sent.once('error', reject)
    sent.end()
  })
}
