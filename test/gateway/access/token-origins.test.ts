/**
 * What a token that is limited to some origins gets: names below these, and of all other names what
 * it would get if nobody served them.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { AGE_HEADER } from '../../../src/gateway/access/cors.ts'
import type { TokenScope } from '../../../src/gateway/config/token-scope.ts'
import { Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const SHOP = 'shop.example.org {\n  kubernetes shop.example.org {\n    cluster shop\n  }\n}\n'
const HOSTS = 'hosts {\n    192.0.2.1 db.example.net www.shop.example.org\n    fallthrough\n  }\n  '
const FORWARD = 'forward . https://resolver.test/dns-query\n'
const LIMITED = { ...WHOLE_SCOPE, origins: ['shop.example.org.'], recurse: false }

async function start(COREFILE: string, scope: TokenScope): Promise<[Running, string]> {
  const running = await Running.start({ COREFILE })
  await running.publish()
  const { token, record } = await tokenRecord({ scope })
  await running.tokens.add(record)
  return [running, token]
}

/** The reply's bytes with its headers; upstreams get time to answer. */
async function ask([running, token]: [Running, string], name: string): Promise<string> {
  const message = writeQuery({ name: nameOf(name), type: 1, id: 0, udpBytes: 1232 })
  let text: string | undefined
  const path = `/dns-query?dns=${Buffer.from(message).toString('base64url')}`
  void running.get(path, token).then(async (response) => {
    const body = Buffer.from(await response.arrayBuffer()).toString('latin1')
    text = JSON.stringify([response.status, [...response.headers], body])
  })
  // No upstream answers, and only time ends the wait for one.
  while (text === undefined) {
    await new Promise(setImmediate)
    if (running.host.asked.length > 0) await running.host.advance(500)
  }
  return text
}

const rcodeOf = (text: string): number => JSON.parse(text)[2].charCodeAt(3) & 15

describe('a token that is limited to an origin', () => {
  const cases: { name: string; rest: string; scope?: Partial<TokenScope>; rcode: number }[] = [
    { name: 'of a block of their own', rest: `example.net {\n  ${HOSTS}}\n`, rcode: 5 },
    { name: 'of the block for the root', rest: `. {\n  ${HOSTS}}\n`, rcode: 5 },
    { name: 'before a relay', rest: `. {\n  ${HOSTS}${FORWARD}}\n`, rcode: 5 },
    {
      name: 'before a relay that it may use',
      rest: `. {\n  ${HOSTS}${FORWARD}}\n`,
      scope: { recurse: true },
      rcode: 2,
    },
    {
      name: 'where its origins are a pattern',
      rest: `. {\n  ${HOSTS}}\n`,
      scope: { origins: ['*.example.org.'] },
      rcode: 5,
    },
  ]
  for (const { name, rest, scope, rcode } of cases) {
    test(`is answered as if there were no hosts: ${name}`, async () => {
      const token = { ...LIMITED, ...scope }
      const without = rest.replace('192.0.2.1 db.example.net', '192.0.2.1')
      const [one, other] = [await start(SHOP + rest, token), await start(SHOP + without, token)]
      const [hidden, absent] = [
        await ask(one, 'db.example.net'),
        await ask(other, 'db.example.net'),
      ]
      assert.equal(hidden, absent)
      assert.equal(rcodeOf(hidden), rcode)
      assert.equal(rcodeOf(await ask(one, 'DB.example.NET')), rcode)
    })
  }

  test('gets the hosts below it, and one that is not all of them', async () => {
    const corefile = `. {\n  ${HOSTS}}\n`
    assert.equal(rcodeOf(await ask(await start(corefile, LIMITED), 'www.shop.example.org')), 0)
    const wide = { ...LIMITED, origins: ['*.example.org.'] }
    assert.equal(rcodeOf(await ask(await start(corefile, wide), 'www.shop.example.org')), 0)
    assert.equal(rcodeOf(await ask(await start(corefile, WHOLE_SCOPE), 'db.example.net')), 0)
  })

  test('gets names of a zone in which there is another one that it may not see', async () => {
    const zones = (more: string): string =>
      `. {\n  kubernetes shop.example.org ${more} {\n    cluster shop\n  }\n}\n`
    const name = 'web.shop.svc.lab.shop.example.org'
    const [one, other] = [
      await start(zones('lab.shop.example.org'), LIMITED),
      await start(zones(''), LIMITED),
    ]
    const [hidden, absent] = [await ask(one, name), await ask(other, name)]
    assert.equal(hidden, absent)
    assert.equal(rcodeOf(hidden), 3)
    assert.ok(hidden.includes(AGE_HEADER))
  })
})

test('What one token asks for changes nothing for another', async () => {
  const corefile = SHOP.replace('kubernetes', 'cache\n  kubernetes')
  const [running, first] = await start(corefile, LIMITED)
  const { token, record } = await tokenRecord({ scope: WHOLE_SCOPE })
  await running.tokens.add(record)
  const askNs = async (name: string, by: string): Promise<string> =>
    (await running.get(`/resolve?name=${name}&type=NS`, by)).text()
  const before = await askNs('SHOP.example.org', token)
  await askNs('shop.example.org', first)
  await askNs('shop.example.org', token)
  assert.equal(await askNs('SHOP.example.org', token), before)
})
