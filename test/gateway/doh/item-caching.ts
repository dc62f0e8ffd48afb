/**
 * Items of the protocol checklist about DNS over HTTPS: what caches keep (RFC 8484 §5.1, RFC 9111).
 * @module
 */
import assert from 'node:assert/strict'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'
import { askDoh } from '../../../src/gateway/doh/doh-client.ts'
import { formatReply } from '../../message-text.ts'
import {
  bearer,
  get,
  getByteRange,
  type Item,
  JSON_FORM,
  messageOf,
  post,
  type RequestCase,
  type RuleCase,
  resolve,
  WEB,
  WEB_LINES,
  WIRE,
} from './item-cases.ts'
import { publish, snapshot, TOKENS } from './item-gateways.ts'
import { type Ask, pathOf, replyOf } from './replies.ts'

const kept = (name: string, ask: Ask, control: string): RequestCase => ({
  name,
  ...ask,
  status: 200,
  has: { 'cache-control': control },
})
const PATH = pathOf(messageOf(`${WEB} A`))
const FRESH = 'max-age=30, no-transform'
const NEVER = 'no-store, no-transform'
let generation = Math.floor(Date.now() / 1000)

/** What caches keep. */
export const CACHING: readonly Item[] = [
  {
    topic: 'freshness of answers',
    cases: [
      kept('as long as the record', get(`${WEB} A`), FRESH),
      kept(
        'as long as the least of an alias (600) and an address (30)',
        get('alias.shop.svc.shop.test A'),
        FRESH,
      ),
      kept(
        'an alias that leads away as long as itself',
        get('far.shop.svc.shop.test A'),
        'max-age=600, no-transform',
      ),
      kept('the same in JSON', resolve(`name=${WEB}`), FRESH),
    ],
  },
  {
    topic: 'freshness of negative responses',
    cases: [
      kept('no data as long as the SOA says', get(`${WEB} TXT`), 'max-age=5, no-transform'),
      kept(
        'no name as long as the SOA says',
        get('none.shop.svc.shop.test A'),
        'max-age=5, no-transform',
      ),
      kept('no name, in JSON', resolve('name=none.shop.svc.shop.test'), 'max-age=5, no-transform'),
    ],
  },
  {
    topic: 'freshness of CNAMEs',
    cases: [
      kept(
        'an alias (300) of no name (5)',
        get('broken.shop.svc.rfc.test A'),
        'max-age=5, no-transform',
      ),
    ],
  },
  {
    topic: 'freshness of failures',
    cases: [
      kept('SERVFAIL never', get('a.later.test A'), NEVER),
      kept('REFUSED never', get('www.example.com A'), NEVER),
      kept('FORMERR never', getByteRange(messageOf(`${WEB} A`).subarray(0, 20)), NEVER),
      kept('NOTIMP never', getByteRange(messageOf(`${WEB} A`).with(2, 0x28)), NEVER),
      kept('BADVERS never', getByteRange(badVersion()), NEVER),
      kept('what is cut never', get('huge.shop.svc.shop.test AAAA'), NEVER),
      kept('TTL 0 never', get('zero.shop.svc.shop.test A'), NEVER),
    ],
  },
  {
    topic: 'private responses',
    cases: [
      {
        ...kept(
          'for the client alone, with a token in the path',
          get(`${WEB} A`),
          `private, ${FRESH}`,
        ),
        path: `/t/${TOKENS.client}${PATH}`,
        to: 'closed',
      },
      {
        ...kept('for the client alone, with one in a header', get(`${WEB} A`), `private, ${FRESH}`),
        headers: bearer(TOKENS.client),
        to: 'closed',
      },
      {
        ...kept('for the client alone, in JSON', resolve(`name=${WEB}`), `private, ${FRESH}`),
        headers: bearer(TOKENS.client),
        to: 'closed',
      },
    ],
  },
  {
    topic: 'Vary',
    cases: [
      {
        name: 'a cache that goes by Vary gives no JSON to a client that wants a message',
        check: async ({ send }) => {
          const paths = [PATH, `/dns-query?name=${WEB}`, `/resolve?name=${WEB}&ct=${WIRE}`]
          for (const path of paths) {
            const kept = new Map<string, string | null>()
            for (const accept of [WIRE, JSON_FORM, '*/*', WIRE, JSON_FORM]) {
              const { headers, status } = await send({ path, headers: { accept } })
              assert.deepEqual([status, headers.get('vary')], [200, 'Accept'])
              const type = headers.get('content-type')
              assert.equal(kept.get(accept) ?? type, type)
              kept.set(accept, type)
            }
          }
        },
      },
    ],
    untested: 'a cache that is in use: nginx is asked by npm run test:clients',
  },
  { topic: 'Age of upstream responses', cases: ages() },
  {
    topic: 'cache keys',
    cases: [
      {
        name: 'what one client queries is not what the next gets, where answers are cached',
        check: async ({ send }) => {
          const words = [
            '',
            ' +edns',
            ' +do',
            ' +cd',
            ' +ad',
            ' +nord',
            ' +padding',
            ' +edns=512',
            '',
          ]
          const names = ['fixed.cached.test', 'FIXED.cached.TEST']
          for (const name of [...names, ...names]) {
            for (const more of words) {
              const id = 1 + Math.floor(Math.random() * 65_535)
              const message = messageOf(`${name} A${more} +id=${id}`)
              const { body } = await send({ path: pathOf(message) })
              const [head = '', , ...rest] = formatReply(body)
              assert.equal(readUint16(body, 0), id)
              const end = 12 + name.length + 6
              assert.deepEqual(body.subarray(12, end), message.subarray(12, end))
              const flags = ['rd', 'cd', 'ad'].filter((flag) => head.split(' ').includes(flag))
              const sent = more === ' +nord' ? [] : more === ' +cd' ? ['rd', 'cd'] : ['rd']
              assert.deepEqual(flags, sent, more)
              assert.equal(
                rest.some((line) => line.startsWith('edns')),
                /edns|do|padding/.test(more),
              )
              assert.equal(rest.includes('edns: 1232 do'), more === ' +do')
              assert.equal(body.length === 468, more === ' +padding')
            }
          }
        },
      },
    ],
  },
  {
    topic: 'caches and new snapshots',
    cases: [
      {
        name: 'what is published is answered, and then never what was before',
        check: async ({ send }) => {
          for (let round = 0; round < 3; round++) {
            generation++
            const line = `one.shop.svc.cluster.local. 5 IN A 10.0.0.${generation % 250}`
            await publish(send, snapshot('moving', [line], generation))
            const wanted = line.replace('cluster.local', 'moving.test')
            const ask = async (): Promise<boolean> => {
              const { body, headers } = await send(get('one.shop.svc.moving.test A'))
              assert.doesNotMatch(headers.get('cache-control') ?? '', /stale/)
              return formatReply(body).includes(wanted)
            }
            while (!(await ask())) await new Promise((resolve) => setTimeout(resolve, 50))
            for (let again = 0; again < 20; again++) assert.ok(await ask(), 'the newest stays')
          }
        },
      },
    ],
  },
  {
    topic: 'validators and cookies',
    cases: [
      {
        name: 'nothing to validate by, no cookies, nothing for a client that transforms',
        ...get(`${WEB} A +padding`, { cookie: 'a=b', 'accept-encoding': 'gzip, br' }),
        status: 200,
        bytes: 468,
        has: {
          etag: undefined,
          'last-modified': undefined,
          'set-cookie': undefined,
          'content-encoding': undefined,
          'cache-control': FRESH,
        },
      },
      {
        name: 'says when it was made',
        not: { workerd: 'Date is written by the edge' },
        check: async ({ send }) => {
          const { headers } = await send(get(`${WEB} A`))
          assert.ok(Math.abs(Date.parse(headers.get('date') ?? '') - Date.now()) < 60_000)
        },
      },
    ],
  },
  {
    topic: 'caching of POST',
    cases: [
      kept('a POST never', post(messageOf(`${WEB} A`)), NEVER),
      {
        name: 'bypasses the cache for a client that accepts no cached response',
        ...get(`${WEB} A`, { 'cache-control': 'no-cache, no-store, must-revalidate' }),
        status: 200,
        answer: WEB_LINES,
        has: { age: undefined },
      },
    ],
  },
]

/** What our client makes of the age that caches tell. */
function ages(): RuleCase[] {
  const rows = [
    { age: '250', ttlSeconds: 350 },
    { age: '600', ttlSeconds: 0 },
    { age: '99999999999', ttlSeconds: 0 },
    { age: undefined, ttlSeconds: 600 },
    ...['0', '-5', '2.5', '1e2', '0x10', 'Infinity', '250, 250', 'old', ''].map((age) => ({
      age,
      ttlSeconds: 600,
    })),
  ]
  return rows.map(({ age, ttlSeconds }) => ({
    name: `a TTL of 600 s and age "${age}" are ${ttlSeconds} s`,
    isOnce: true,
    check: async () => {
      const message = messageOf('a.example.org A')
      const answer = ['a.example.org. 600 IN A 192.0.2.1']
      const body = new Uint8Array(replyOf(message, { answer }))
      const headers = { 'content-type': WIRE, ...(age !== undefined && { age }) }
      const reply = await askDoh('https://dns.test/dns-query', message, {
        fetch: () => Promise.resolve(new Response(body, { headers })),
        signal: AbortSignal.timeout(1000),
      })
      assert.ok(formatReply(reply).includes(`a.example.org. ${ttlSeconds} IN A 192.0.2.1`))
    },
  }))
}

function badVersion(): Uint8Array {
  const message = messageOf(`${WEB} A +edns`)
  return message.with(message.length - 5, 1)
}
