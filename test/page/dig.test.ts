import assert from 'node:assert/strict'
import { test } from 'vitest'
import { errorTexts, formatDig } from '../../page/dig.ts'
import { parseQuestion, writeReplyText } from '../message-text.ts'

const SERVER = 'https://dns.example.org/dns-query'

test('a response is printed as dig prints it', () => {
  const reply = writeReplyText(
    [
      'NOERROR aa',
      'web.shop.svc.demo.test. 5 IN A 10.96.0.80',
      'authority: demo.test. 30 IN NS ns.dns.demo.test.',
    ],
    parseQuestion('web.shop.svc.demo.test A +edns').message,
  )
  const when = 'Mon Nov 23 2026 04:00:00 GMT+0000'
  assert.equal(
    formatDig({ reply, tookMs: 3.6, server: SERVER, when }),
    `;; Got answer:
;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 4660
;; flags: qr aa rd; QUERY: 1, ANSWER: 1, AUTHORITY: 1, ADDITIONAL: 1

;; OPT PSEUDOSECTION:
; EDNS: version: 0, flags:
;; QUESTION SECTION:
;web.shop.svc.demo.test.\t\tIN\tA

;; ANSWER SECTION:
web.shop.svc.demo.test.\t5\tIN\tA\t10.96.0.80

;; AUTHORITY SECTION:
demo.test.\t\t30\tIN\tNS\tns.dns.demo.test.

;; Query time: 4 msec
;; SERVER: ${SERVER} (HTTPS)
;; WHEN: ${when}
;; MSG SIZE  rcvd: ${reply.length}`,
  )
})

test('hostile names and texts are escaped', () => {
  const message = parseQuestion('a.test A +edns').message
  const reply = writeReplyText(
    ['NXDOMAIN', 'x\\027\\255.test. 5 IN TXT "\\226\\128\\174"'],
    message,
  )
  const text = formatDig({ reply, tookMs: 1, server: SERVER, when: '' }) ?? ''
  assert.doesNotMatch(text, /[^\t\n -~]/)
  assert.match(text, /x\\027\\255\.test\./)
  assert.deepEqual(errorTexts(reply), [])
})

test('bytes that are no response print nothing', () => {
  const reply = new Uint8Array(5)
  assert.equal(formatDig({ reply, tookMs: 1, server: SERVER, when: '' }), undefined)
  assert.deepEqual(errorTexts(reply), [])
})
