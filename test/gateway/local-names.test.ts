import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseQuery } from '../../src/dns/query.ts'
import { answerLocally } from '../../src/gateway/local-names.ts'
import { formatReply, parseQuestion } from '../message-text.ts'

function answerTo(question: string): string[] | undefined {
  const reply = answerLocally(parseQuery(parseQuestion(question).message))
  return reply && formatReply(reply)
}

describe('names that a gateway answers by itself', () => {
  for (const question of [
    '_dns.resolver.arpa SVCB',
    'resolver.arpa NS',
    '_DNS.Resolver.Arpa TYPE64',
  ]) {
    test(`${question}: no data`, () => {
      assert.match(answerTo(question)?.[0] ?? '', /^NOERROR aa/)
    })
  }

  for (const question of [
    'use-application-dns.net A',
    'Use-Application-DNS.net AAAA',
    'www.use-application-dns.net HTTPS',
  ]) {
    test(`${question}: no such name, so that Firefox stays with the system’s resolver`, () => {
      assert.match(answerTo(question)?.[0] ?? '', /^NXDOMAIN aa/)
    })
  }

  for (const question of ['net NS', 'xuse-application-dns.net A', 'application-dns.net A']) {
    test(`not ${question}`, () => {
      assert.equal(answerTo(question), undefined)
    })
  }

  for (const question of ['arpa NS', 'xresolver.arpa A', 'web.shop.svc.cluster.local A', '. NS']) {
    test(`not ${question}`, () => {
      assert.equal(answerTo(question), undefined)
    })
  }

  test('padded for clients that request it', () => {
    for (const name of ['resolver.arpa', 'use-application-dns.net']) {
      const { message } = parseQuestion(`${name} A +padding`)
      assert.equal(answerLocally(parseQuery(message))?.length, 468)
    }
  })

  test('not what is no query', () => {
    assert.equal(answerLocally(parseQuery(new Uint8Array(3))), undefined)
  })
})
