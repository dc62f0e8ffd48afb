/** A cold process: what it reads while it reads the tokens. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { QUESTION, Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'

const NAME = 'web.shop.svc.shop.example.org'
const { message } = parseQuestion(`${NAME} A`)

/** A gateway whose tokens come when the test says so, and whether its manifest was read. */
async function start(): Promise<{
  running: Running
  token: string
  open: () => void
  isRead: () => boolean
}> {
  const running = await Running.start()
  await running.publish()
  const { token, record } = await tokenRecord()
  await running.tokens.add(record)
  const { promise, resolve: open } = Promise.withResolvers<void>()
  const { list } = running.tokens
  Object.assign(running.tokens, { list: () => promise.then(list) })
  const { readManifest } = running.store
  let isRead = false
  running.store.readManifest = () => {
    isRead = true
    return readManifest()
  }
  return { running, token, open, isRead: () => isRead }
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
}

describe('the first request with a token has the manifest read beside the tokens:', () => {
  const requests: readonly (readonly [name: string, path: string, init: RequestInit])[] = [
    ['GET', `/dns-query${QUESTION}`, {}],
    ['JSON', `/resolve?name=${NAME}`, {}],
    [
      'POST',
      '/dns-query',
      {
        method: 'POST',
        headers: { 'content-type': 'application/dns-message' },
        body: new Uint8Array(message),
      },
    ],
  ]
  for (const [name, path, init] of requests) {
    test(name, async () => {
      const { running, token, open, isRead } = await start()
      const response = running.app.request(`https://dns.example.org/t/${token}${path}`, init)
      await settle()
      assert.equal(isRead(), true)
      open()
      assert.equal((await response).status, 200)
    })
  }

  test('its body is answered, though it was read before', async () => {
    const { running, token, open } = await start()
    const response = running.app.request(`https://dns.example.org/t/${token}/dns-query`, {
      method: 'POST',
      headers: { 'content-type': 'application/dns-message' },
      body: new Uint8Array(message),
    })
    open()
    const reply = new Uint8Array(await (await response).arrayBuffer())
    assert.match(formatReply(reply).join('\n'), /^NOERROR/)
  })
})

describe('nothing is read', () => {
  test('without a token, and with a text that is none', async () => {
    const { running, isRead } = await start()
    for (const path of ['/dns-query', '/t/guess/dns-query']) {
      await running.app.request(`https://dns.example.org${path}?dns=${encodeBase64url(message)}`)
    }
    await settle()
    assert.equal(isRead(), false)
  })
})
