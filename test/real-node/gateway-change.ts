/**
 * A program: waits until each of several gateways has an address for a name, and prints the times
 * at which they first had it, in milliseconds since 1970, as a JSON list.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Asked, ask } from './gateway-request.ts'

const PAUSE_MS = 10

async function answeredAt(asked: Asked, name: string): Promise<number> {
  while (!(await ask(asked, name)).includes('"Status":0')) await sleep(PAUSE_MS)
  return Date.now()
}

const [text = '{}', name = '', ...hosts] = process.argv.slice(2)
const asked: Asked = JSON.parse(text)
const times = hosts.map((host) => answeredAt({ ...asked, host, port: 8443 }, name))
process.stdout.write(JSON.stringify(await Promise.all(times)))
