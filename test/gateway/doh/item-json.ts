/**
 * Items of the protocol checklist about the JSON form, which has no RFC: it is as the public
 * services have it.
 * @module
 */
import assert from 'node:assert/strict'
import { formatJsonReply } from '../../../src/gateway/doh/json-reply.ts'
import { textOf } from './check-case.ts'
import {
  type Item,
  JSON_FORM,
  messageOf,
  type RequestCase,
  resolve,
  WEB,
  WEB_JSON,
  WEB_LINES,
  WIRE,
} from './item-cases.ts'
import { pathOf } from './replies.ts'

const GOOGLE = 'application/json; charset=UTF-8'
const NAME_253 = `${'a.'.repeat(125)}abc`

const ok = (parameters: string, json: Readonly<Record<string, unknown>>): RequestCase => ({
  name: `takes ${parameters.slice(0, 60)}`,
  ...resolve(parameters),
  status: 200,
  json,
})
const bad = (parameters: string): RequestCase => ({
  name: `refuses "${parameters.slice(0, 60)}"`,
  ...resolve(parameters),
  status: 400,
  code: 'bad_parameter',
})
const typed = (type: string, number: number): RequestCase =>
  ok(`name=${WEB}&type=${type}`, { Question: [{ name: `${WEB}.`, type: number }] })
const named = (name: string, shown: string): RequestCase =>
  ok(`name=${name}`, { Question: [{ name: shown, type: 1 }] })

/** Endpoints and parameters. */
export const JSON_PARAMETERS: readonly Item[] = [
  {
    topic: 'paths of JSON',
    cases: [
      { ...ok(`name=${WEB}`, WEB_JSON), has: { 'content-type': GOOGLE } },
      {
        name: 'answers beside messages, for a client that accepts it',
        path: `/dns-query?name=${WEB}`,
        headers: { accept: JSON_FORM },
        status: 200,
        json: WEB_JSON,
        has: { 'content-type': JSON_FORM },
      },
      {
        name: 'answers beside messages, for a client that says it by ct',
        path: `/dns-query?name=${WEB}&ct=${JSON_FORM}`,
        status: 200,
        json: WEB_JSON,
        has: { 'content-type': JSON_FORM },
      },
      {
        name: 'answers a browser that says it by ct',
        path: `/dns-query?name=${WEB}&ct=${JSON_FORM}`,
        headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
        status: 200,
        json: WEB_JSON,
      },
      {
        name: 'answers by a message for ct of messages',
        ...resolve(`name=${WEB}&ct=${WIRE}`),
        status: 200,
        answer: WEB_LINES,
      },
      ok(`name=${WEB}&ct=application/x-javascript`, WEB_JSON),
      ok(`name=${WEB}&ct=text/html`, WEB_JSON),
      {
        name: 'takes no POST',
        method: 'POST',
        ...resolve(`name=${WEB}`),
        status: 405,
        has: { allow: 'GET, HEAD' },
      },
      {
        name: 'takes no POST beside messages',
        method: 'POST',
        path: '/dns-query',
        headers: { 'content-type': JSON_FORM },
        body: new TextEncoder().encode('{}'),
        status: 415,
      },
    ],
  },
  {
    topic: 'the name parameter',
    cases: [
      named(`${WEB}.`, `${WEB}.`),
      named('.', '.'),
      named(NAME_253, `${NAME_253}.`),
      named(`${'a'.repeat(63)}.test`, `${'a'.repeat(63)}.test.`),
      named('a%5C.b.test', String.raw`a\.b.test.`),
      named('%5C097.test', 'a.test.'),
      named('%5C000%5C255.test', String.raw`\000\255.test.`),
      ...[
        '',
        'name=',
        'name=.example.com',
        'name=example..com',
        'name=..',
        `name=${'a'.repeat(64)}.test`,
      ].map(bad),
      ...[`name=a${NAME_253}b`, 'name=b%C3%BCcher.test', 'name=%5C256.test', 'name=%5C'].map(bad),
    ],
  },
  {
    topic: 'the type parameter',
    cases: [
      typed('', 1),
      typed('A', 1),
      typed('aaaa', 28),
      typed('TYPE65', 65),
      typed('type1000', 1000),
      typed('https', 65),
      typed('65535', 65_535),
      typed('16', 16),
      typed('255', 255),
      ...[
        '0',
        '65536',
        '-1',
        'constructor',
        '__proto__',
        '1e1',
        '0x1',
        '1.0',
        'TYPE65536',
        'nonsense',
        '%2016',
      ].map((type) => bad(`name=a.test&type=${type}`)),
    ],
  },
  {
    topic: 'the cd and do parameters',
    cases: [
      ...['cd', 'cd=', 'cd=1', 'cd=true'].map((flag) => ok(`name=${WEB}&${flag}`, { CD: true })),
      ...['cd=0', 'cd=false', 'other=1'].map((flag) => ok(`name=${WEB}&${flag}`, { CD: false })),
      ...['do', 'do=1', 'do=true', 'do=0', 'do=false'].map((flag) =>
        ok(`name=${WEB}&${flag}`, WEB_JSON),
      ),
      ...['cd=yes', 'do=2', 'cd=TRUE%20', 'do=-1'].map((flag) => bad(`name=${WEB}&${flag}`)),
      ok(`name=${WEB}&name=a..b&type=A&type=0&cd=0&cd=x`, { ...WEB_JSON, CD: false }),
      bad(`name=a..b&name=${WEB}`),
    ],
  },
  {
    topic: 'the edns_client_subnet parameter',
    cases: [
      ...['0.0.0.0/0', '192.0.2.1', '192.0.2.0/24', '2001:db8::/32', '::/0'].map((subnet) =>
        ok(`name=${WEB}&edns_client_subnet=${encodeURIComponent(subnet)}`, {
          ...WEB_JSON,
          edns_client_subnet: undefined,
        }),
      ),
      ...['192.0.2.0/33', '192.0.2', '::/129', 'x/8', '192.0.2.0/', '/24', '192.0.2.0/-1'].map(
        (subnet) => bad(`name=${WEB}&edns_client_subnet=${encodeURIComponent(subnet)}`),
      ),
      ok(`name=${WEB}&random_padding=${'x'.repeat(4000)}`, WEB_JSON),
    ],
  },
]

/** Answers. */
export const JSON_ANSWERS: readonly Item[] = [
  {
    topic: 'fields of JSON',
    cases: [
      ok(`name=${WEB}`, {
        Status: 0,
        TC: false,
        RD: true,
        RA: false,
        AD: false,
        CD: false,
        Question: [{ name: `${WEB}.`, type: 1 }],
        ...WEB_JSON,
        Authority: undefined,
        Additional: undefined,
        Comment: undefined,
      }),
      ok('name=none.shop.svc.shop.test&type=28', {
        Status: 3,
        Question: [{ name: 'none.shop.svc.shop.test.', type: 28 }],
        Answer: undefined,
        Authority: [
          {
            name: 'shop.test.',
            type: 6,
            TTL: 5,
            data: 'ns.dns.shop.test. hostmaster.shop.test. 1 7200 1800 86400 5',
          },
        ],
      }),
      ok('name=_http._tcp.web.shop.svc.shop.test&type=SRV', {
        Additional: [
          { name: `${WEB}.`, type: 1, TTL: 30, data: '10.96.0.80' },
          { name: `${WEB}.`, type: 28, TTL: 30, data: '2001:db8::80' },
        ],
      }),
      {
        name: 'gives a response code that a header has no room for whole',
        isOnce: true,
        check: async () => {
          const { fakeApp } = await import('./fake-app.ts')
          const response = await fakeApp().request('/resolve?name=badcookie.example.org')
          assert.equal(JSON.parse(await response.text()).Status, 23)
        },
      },
    ],
  },
  {
    topic: 'record data in JSON',
    cases: [
      data(`${WEB}&type=AAAA`, '2001:db8::80'),
      data('_http._tcp.web.shop.svc.shop.test&type=SRV', `0 100 80 ${WEB}.`),
      data('far.shop.svc.shop.test&type=CNAME', 'www.example.com.'),
      data('text.shop.svc.shop.test&type=TXT', String.raw`"say \"hi\"" "\000\255\\;"`),
      data('odd.shop.svc.shop.test&type=TYPE65280', String.raw`\# 3 0a000b`),
      {
        name: 'is JSON for every byte in a name',
        check: async ({ send }) => {
          for (let octet = 0; octet < 256; octet++) {
            const name = `${encodeURIComponent(`\\${String(octet).padStart(3, '0')}`)}.svc.shop.test`
            const got = await send(resolve(`name=x${name}`))
            const { Question, Status } = JSON.parse(textOf(got))
            assert.equal(Status, 3)
            const shown = String(Question[0].name)
            assert.match(shown, /^x[\x20-\x7e]+\.svc\.shop\.test\.$/)
            const again = await send(resolve(`name=${encodeURIComponent(shown)}`))
            assert.deepEqual(again.body, got.body)
          }
        },
      },
    ],
  },
  {
    topic: 'names in JSON',
    cases: [
      ok('name=WeB.shop.SVC.Shop.test', {
        Question: [{ name: 'WeB.shop.SVC.Shop.test.', type: 1 }],
        Answer: [{ name: 'WeB.shop.SVC.Shop.test.', type: 1, TTL: 30, data: '10.96.0.80' }],
      }),
    ],
  },
  {
    topic: 'comments in JSON',
    cases: [
      ok('name=a.later.test', { Comment: 'EDE(14): Not Ready: no snapshot yet' }),
      ok('name=www.example.com', { Comment: 'EDE(20): Not Authoritative' }),
    ],
    untested: "nothing here reads other services' JSON",
  },
  {
    topic: 'errors in JSON',
    cases: [
      {
        ...bad('name=a..b'),
        has: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      },
      {
        ...ok('name=a.later.test', { Status: 2 }),
        has: { 'cache-control': 'no-store, no-transform', vary: 'Accept' },
      },
    ],
  },
  {
    topic: 'JSON equals the wire format',
    cases: [
      {
        name: 'is the rendering of the message',
        check: async ({ send }) => {
          const names = [
            WEB,
            'alias.shop.svc.shop.test',
            'text.shop.svc.shop.test',
            'none.svc.shop.test',
          ]
          const others = [
            'many.shop.svc.shop.test',
            'a.later.test',
            'www.example.com',
            'shop.test',
            '.',
          ]
          for (const name of [...names, ...others]) {
            for (const type of [
              'A',
              'AAAA',
              'TXT',
              'SRV',
              'SOA',
              'NS',
              'ANY',
              'HTTPS',
              'TYPE65280',
            ]) {
              for (const flags of ['', '&do=1', '&cd=1']) {
                const asked = resolve(`name=${name}&type=${type}${flags}`)
                const json = await send(asked)
                const wire = await send({ path: `${asked.path}&ct=${encodeURIComponent(WIRE)}` })
                const control = json.headers.get('cache-control')
                assert.equal(textOf(json), formatJsonReply(wire.body))
                assert.equal(control, wire.headers.get('cache-control'))
              }
            }
          }
        },
      },
      {
        name: 'is the rendering of the message that is queried by GET',
        check: async ({ send }) => {
          const path = pathOf(messageOf(`${WEB} A +edns`))
          const [wire, json] = [
            await send({ path }),
            await send({ path, headers: { accept: JSON_FORM } }),
          ]
          assert.equal(textOf(json), formatJsonReply(wire.body))
        },
      },
    ],
  },
  {
    topic: 'other JSON clients',
    cases: [],
    untested: 'a client by others: dohdec asks in npm run test:clients',
  },
]

function data(parameters: string, text: string): RequestCase {
  const [name = '', type = ''] = parameters.split('&type=')
  return {
    name: `writes ${type} as zone files do`,
    ...resolve(`name=${name}&type=${type}`),
    status: 200,
    has: { 'content-type': GOOGLE },
    data: text,
  }
}
