import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { ClientVisibility } from '../../../../src/resolver/contract/client.ts'
import type { Request } from '../../../../src/resolver/contract/request.ts'
import { entryKey } from '../../../../src/resolver/plugins/cache/kinds.ts'
import { requestOf } from '../../chain/serve-with.ts'

describe('entryKey', () => {
  const ASK = 'www.example.org A'
  for (const again of [
    'WWW.example.ORG A',
    `${ASK} +edns +tcp`,
    `${ASK} +ad`,
    `${ASK} +cookie +nsid +padding`,
    `${ASK} +option=20292:01`,
    `${ASK} +option=65001:0102`,
    `${ASK} +from=192.0.2.1`,
  ]) {
    test(`is the same for ${again}`, async () => {
      assert.equal(entryKey(await requestOf(again)), entryKey(await requestOf(ASK)))
    })
  }
  for (const other of [
    'www.example.org AAAA',
    'example.org A',
    `${ASK} +do`,
    `${ASK} +cd`,
    `${ASK} +option=8:00011800c00002`,
    `${ASK} +nord`,
  ]) {
    test(`is another for ${other}`, async () => {
      assert.notEqual(entryKey(await requestOf(other)), entryKey(await requestOf(ASK)))
    })
  }

  test('is another in another class', async () => {
    const request = await requestOf(ASK)
    assert.notEqual(entryKey({ ...request, class: 3 }), entryKey(request))
  })

  test('is another for each view of a client', async () => {
    const request = await requestOf(ASK)
    const seen = (id: string): Request => {
      const visibility: ClientVisibility = {
        id,
        seesOrigin: () => true,
        seesName: () => true,
        namespaces: undefined,
        mayRecurse: true,
      }
      return { ...request, client: { ...request.client, visibility } }
    }
    const keys = [request, seen('a'), seen('b'), seen('a')].map(entryKey)
    assert.equal(new Set(keys).size, 3)
  })
})
