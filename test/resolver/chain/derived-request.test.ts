import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { FLAG } from '../../../src/dns/wire/query.ts'
import {
  deriveRequest,
  optionsOf,
  type RequestChanges,
} from '../../../src/resolver/chain/derived-request.ts'
import { failure } from '../../../src/resolver/contract/outcome.ts'
import type { Request } from '../../../src/resolver/contract/request.ts'
import { serveWith } from './serve-with.ts'

/** Asks, and shows what the rest of the chain would see after some changes. */
async function seen(question: string, changes: RequestChanges): Promise<string> {
  const requests: Request[] = []
  const server = serveWith({
    name: 'test',
    serve: (request) => {
      requests.push(deriveRequest(request, changes))
      return failure(2)
    },
  })
  await server.ask(question)
  const [request] = requests
  assert.ok(request)
  const { query } = request
  const options = optionsOf(request).map(({ code, data }) => `${code}:${data.length}`)
  const flags = [
    ...((query.flags & FLAG.RD) === 0 ? [] : ['rd']),
    ...((query.flags & FLAG.CD) === 0 ? [] : ['cd']),
    ...(query.hasEdns ? [`edns=${query.udpBytes}`] : []),
    ...(query.wantsDnssec ? ['do'] : []),
  ]
  assert.equal(formatName(request.lowerName), formatName(request.name).toLowerCase())
  return [formatName(request.name), request.class, request.type, ...flags, ...options].join(' ')
}

describe('deriveRequest', () => {
  const cases: { name: string; ask: string; changes: RequestChanges; sees: string }[] = [
    {
      name: 'requests another name and type, and keeps the rest',
      ask: 'a.example.org A +edns=1400 +do +cd +cookie',
      changes: { name: nameOf('B.example.net'), type: TYPE.TXT },
      sees: 'B.example.net. 1 16 rd cd edns=1400 do 10:8',
    },
    {
      name: 'queries with other flags and in another class',
      ask: 'a.example.org A',
      changes: { class: 3, flags: FLAG.CD },
      sees: 'a.example.org. 3 1 cd',
    },
    {
      name: 'puts options in the place of those that there were',
      ask: 'a.example.org A +edns=1400 +cookie',
      changes: { options: [{ code: 65_001, data: new Uint8Array(3) }] },
      sees: 'a.example.org. 1 1 rd edns=1400 65001:3',
    },
    {
      name: 'makes an OPT record for options',
      ask: 'A.example.org A',
      changes: { options: [{ code: 3, data: new Uint8Array(0) }] },
      sees: 'A.example.org. 1 1 rd edns=1232 3:0',
    },
  ]
  for (const { name, ask, changes, sees } of cases) {
    test(name, async () => {
      assert.equal(await seen(ask, changes), sees)
    })
  }
})
