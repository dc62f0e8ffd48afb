/**
 * The tokens of clients in a file, a record in each line.
 * @module
 */
import type { TokenRecord } from '../gateway/token.ts'
import { formatTokenRecord, parseTokenRecord, type TokenStore } from '../gateway/token-store.ts'
import { Turns } from '../gateway/turns.ts'
import { readWhole, writeWhole } from './files.ts'

/** Makes the store; the file comes into being with the first token. */
export function createFileTokenStore(path: string): TokenStore {
  const turns = new Turns()
  return {
    list: async () => [...(await read(path)).values()],
    put: (record) =>
      turns.take(async () => {
        const records = await read(path)
        records.set(record.id, record)
        await write(path, records)
      }),
    remove: (id) =>
      turns.take(async () => {
        const records = await read(path)
        if (!records.delete(id)) return false
        await write(path, records)
        return true
      }),
  }
}

async function read(path: string): Promise<Map<string, TokenRecord>> {
  const bytes = (await readWhole(path)) ?? new Uint8Array(0)
  const lines = new TextDecoder().decode(bytes).split('\n')
  const records = lines.flatMap((line) => (line === '' ? [] : (parseTokenRecord(line) ?? [])))
  return new Map(records.map((record) => [record.id, record]))
}

function write(path: string, records: ReadonlyMap<string, TokenRecord>): Promise<void> {
  const lines = [...records.values()].map((record) => `${formatTokenRecord(record)}\n`)
  return writeWhole(path, [new TextEncoder().encode(lines.join(''))])
}
