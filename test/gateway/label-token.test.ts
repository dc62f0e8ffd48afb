import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { parseQuestion } from '../message-text.ts'
import { WEB } from './publishing.ts'
import { Running } from './running.ts'
import { tokenRecord } from './tokens.ts'
import { WHOLE_SCOPE } from './whole-scope.ts'

const QUESTIONS = [
  'web.shop.svc.shop.example.org A',
  'web.shop.svc.shop.example.org AAAA',
  'nosuch.shop.svc.shop.example.org A',
  'shop.svc.shop.example.org A',
  '80.0.96.10.in-addr.arpa PTR',
]

/** What a token gets for each question: status, headers and body, in wire form and as JSON. */
async function answers(running: Running, token: string): Promise<unknown[]> {
  const all: unknown[] = []
  for (const question of QUESTIONS) {
    const dns = encodeBase64url(parseQuestion(question).message)
    const [name, type] = question.split(' ')
    for (const path of [`/dns-query?dns=${dns}`, `/resolve?name=${name}&type=${type}`]) {
      const response = await running.get(path, token)
      const body = Buffer.from(await response.arrayBuffer()).toString('hex')
      all.push([path, response.status, [...response.headers], body])
    }
  }
  return all
}

async function start(): Promise<{ running: Running; byLabel: string; byName: string }> {
  const running = await Running.start()
  const scopes = [['team=shop&tier=*'], ['blog']].map((namespaces) =>
    tokenRecord({ scope: { ...WHOLE_SCOPE, namespaces } }),
  )
  const [label, name] = await Promise.all(scopes)
  assert.ok(label && name)
  for (const { record } of [label, name]) await running.tokens.add(record)
  return { running, byLabel: label.token, byName: name.token }
}

/** A minute goes by, or as long as it takes for what is new to be read. */
async function goOver(running: Running, token: string): Promise<void> {
  await running.host.advance(1000)
  await running.get(`/resolve?name=svc.shop.example.org`, token)
  await Promise.all(running.kept)
}

describe('a token by labels', () => {
  test('sees what its labels select at each generation; all else looks absent', async () => {
    const { running, byLabel, byName } = await start()
    await running.publish(WEB, 1, { shop: ['team=shop', 'tier=gold'] })
    const seen = await answers(running, byLabel)
    const hidden = await answers(running, byName)
    assert.notDeepEqual(seen, hidden)
    assert.ok(JSON.stringify(seen).includes(Buffer.from([10, 96, 0, 80]).toString('hex')))
    await running.publish(WEB, 2, { shop: ['team=web', 'tier=gold'] })
    await goOver(running, byLabel)
    assert.deepEqual(await answers(running, byLabel), await answers(running, byName))
    await running.publish(WEB, 3, { blog: ['team=shop', 'tier=gold'] })
    await goOver(running, byLabel)
    assert.deepEqual(await answers(running, byLabel), await answers(running, byName))
    await running.publish(WEB, 4, { shop: ['team=shop', 'tier='] })
    await goOver(running, byLabel)
    assert.notDeepEqual(await answers(running, byLabel), await answers(running, byName))
  })

  test('sees no namespace of a cluster that publishes no labels', async () => {
    const { running, byLabel, byName } = await start()
    await running.publish()
    assert.deepEqual(await answers(running, byLabel), await answers(running, byName))
  })

  test('that comes to be needs no new snapshot', async () => {
    const { running, byName } = await start()
    await running.publish(WEB, 1, { shop: ['team=new'] })
    const hidden = await answers(running, byName)
    const scope = { ...WHOLE_SCOPE, namespaces: ['team=new'] }
    const { token, record } = await tokenRecord({ scope })
    await running.tokens.add(record)
    await running.host.advance(1000)
    assert.notDeepEqual(await answers(running, token), hidden)
  })
})
