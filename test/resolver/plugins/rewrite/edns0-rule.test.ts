import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { EMPTY_REPLY } from '../../../../src/dns/wire/message.ts'
import { parseQuery } from '../../../../src/dns/wire/query.ts'
import { deriveRequest, optionsOf } from '../../../../src/resolver/chain/derived-request.ts'
import type { Request } from '../../../../src/resolver/contract/request.ts'
import { parseEdns0Rule } from '../../../../src/resolver/plugins/rewrite/edns0-rule.ts'
import type { QuestionDraft, Rule } from '../../../../src/resolver/plugins/rewrite/rule.ts'
import { parseQuestion } from '../../../message-text.ts'
import { serveWith } from '../../chain/serve-with.ts'
import { problemsOfRule, wordsOf } from './rules.ts'

/** Options as `CODE:HEX`. */
type Options = readonly string[]

function optionsFrom(texts: Options): { code: number; data: Uint8Array }[] {
  return texts.map((text) => {
    const [code, data = ''] = text.split(':')
    return { code: Number(code), data: Buffer.from(data, 'hex') }
  })
}

function textsOf(options: readonly { code: number; data: Uint8Array }[]): string[] {
  return options.map(({ code, data }) => `${code}:${formatHex(data)}`)
}

/** A request from 198.51.100.7 that came with some options, and without OPT for `undefined`. */
async function requestWith(options: Options | undefined): Promise<Request> {
  const requests: Request[] = []
  const server = serveWith({
    name: 'test',
    serve: (request) => {
      requests.push(request)
      return EMPTY_REPLY
    },
  })
  await server.ask('Www.a.org A')
  const [request = assert.fail('no request')] = requests
  return options === undefined ? request : deriveRequest(request, { options: optionsFrom(options) })
}

function ruleOf(text: string): Rule {
  const words = wordsOf(text)
  const [at = assert.fail('no word')] = words
  return parseEdns0Rule(words, at, () => undefined)
}

describe('rules for EDNS', () => {
  const cases: {
    name: string
    rules: string[]
    options?: Options
    asks: Options | undefined
    /** What rules make of options that come back; as they are when left out. */
    back?: { from: Options; to: Options }
  }[] = [
    {
      name: 'set a missing option, in a missing record',
      rules: ['local set 0xffee 0x616263'],
      asks: ['65518:616263'],
    },
    { name: 'set text', rules: ['LOCAL Set 65001 abc'], asks: ['65001:616263'] },
    {
      name: 'set the first of several options',
      rules: ['local set 65001 b'],
      options: ['65001:61', '10:00', '65001:61'],
      asks: ['65001:62', '10:00', '65001:61'],
    },
    { name: 'replace nothing that is missing', rules: ['local replace 65001 b'], asks: [] },
    {
      name: 'replace an option',
      rules: ['local replace 65001 b'],
      options: ['10:00', '65001:61'],
      asks: ['10:00', '65001:62'],
    },
    {
      name: 'append an option, though it exists',
      rules: ['local append 65001 b'],
      options: ['65001:61'],
      asks: ['65001:61', '65001:62'],
    },
    {
      name: 'append no variable to an option that exists',
      rules: ['local append 65001 {qtype}'],
      options: ['65001:61'],
      asks: ['65001:61'],
    },
    { name: 'append a variable', rules: ['local append 65001 {qtype}'], asks: ['65001:0001'] },
    {
      name: 'take out all of a code',
      rules: ['local unset 65001'],
      options: ['65001:61', '10:00', '65001:61'],
      asks: ['10:00'],
    },
    { name: 'make a record, though they take out', rules: ['nsid unset'], asks: [] },
    {
      name: 'query who a server is',
      rules: ['nsid set'],
      options: ['10:00'],
      asks: ['10:00', '3:'],
    },
    {
      name: 'empty queries for the identity of the server',
      rules: ['nsid replace'],
      options: ['3:61'],
      asks: ['3:'],
    },
    {
      name: 'report the client’s network',
      rules: ['subnet set 20 56'],
      asks: ['8:00011400c63360'],
    },
    {
      name: 'append no network to one that exists',
      rules: ['subnet append 24 56'],
      options: ['8:000108000a'],
      asks: ['8:000108000a'],
    },
    {
      name: 'take out the client’s network',
      rules: ['subnet unset'],
      options: ['8:000108000a'],
      asks: [],
    },
    {
      name: 'set no variable that is not known',
      rules: ['local set 65001 {server_ip}', 'local set 65002 {a/b}'],
      asks: undefined,
    },
    {
      name: 'take out what they set, in what comes back',
      rules: ['local set 65001 a revert'],
      asks: ['65001:61'],
      back: { from: ['9:00', '65001:62'], to: ['9:00'] },
    },
    {
      name: 'put back what there was',
      rules: ['nsid set revert'],
      options: ['3:61'],
      asks: ['3:'],
      back: { from: ['3:7a'], to: ['3:61'] },
    },
    {
      name: 'put back nothing where nothing comes back',
      rules: ['subnet set 24 56 revert'],
      options: ['8:000108000a'],
      asks: ['8:00011800c63364'],
      back: { from: ['10:00'], to: ['10:00'] },
    },
    {
      name: 'put back what the one before has set',
      rules: ['local set 65001 a', 'local replace 65001 b revert'],
      asks: ['65001:62'],
      back: { from: ['65001:62'], to: ['65001:61'] },
    },
  ]
  for (const { name, rules, options, asks, back } of cases) {
    test(name, async () => {
      const request = await requestWith(options)
      const asked: QuestionDraft = {
        request,
        name: 'www.a.org.',
        type: 1,
        class: 1,
        options: undefined,
        ownOptions: new Set<number>(),
      }
      const responses = rules.flatMap((text) => ruleOf(text).rewrite(asked) ?? [])
      assert.deepEqual(asked.options && textsOf(asked.options), asks)
      const before = optionsFrom(back?.from ?? [])
      const after = responses.reduceRight((now, rule) => [...(rule.options?.(now) ?? now)], before)
      assert.deepEqual(textsOf(after), back?.to ?? [])
      assert.deepEqual(textsOf(optionsOf(request)), options ?? [])
    })
  }

  const concerns: { rule: string; concerned: boolean[] }[] = [
    { rule: 'local set 65001 a', concerned: [true, false] },
    { rule: 'local unset 65001', concerned: [true, false] },
    { rule: 'nsid set', concerned: [false, false] },
    { rule: 'subnet set 24 56', concerned: [false, false] },
  ]
  for (const { rule, concerned } of concerns) {
    test(`concern answers at hand only where options go back: ${rule}`, () => {
      const seen = ['a.org A +edns', 'a.org A'].map((question) => {
        const query = parseQuery(parseQuestion(question).message)
        return query.kind === 'query' && ruleOf(rule).mayMatch(query)
      })
      assert.deepEqual(seen, concerned)
    })
  }

  const problems: { name: string; rule: string; problem: string }[] = [
    {
      name: 'are about three kinds',
      rule: 'edns0 cookie set',
      problem: '17: an EDNS rule needs "local", "nsid" or "subnet"',
    },
    {
      name: 'are about something',
      rule: 'edns0',
      problem: '11: an EDNS rule needs "local", "nsid" or "subnet"',
    },
    {
      name: 'do something',
      rule: 'edns0 nsid',
      problem: '17: "nsid" needs one of set, replace, append, unset',
    },
    {
      name: 'do one of four things',
      rule: 'edns0 nsid add',
      problem: '22: "nsid" needs one of set, replace, append, unset',
    },
    {
      name: 'have code and data',
      rule: 'edns0 local set 65001 revert',
      problem: '17: "local set" takes 2 argument(s), got 1',
    },
    {
      name: 'have no data to take out',
      rule: 'edns0 local unset 65001 a',
      problem: '35: "local unset" takes 1 argument(s), got 2',
    },
    {
      name: 'have nothing to put back after taking out',
      rule: 'edns0 nsid unset revert',
      problem: '28: "nsid unset" takes 0 argument(s), got 1',
    },
    {
      name: 'have codes of 16 bits',
      rule: 'edns0 local set 0x10000 a',
      problem: '27: "0x10000" is not a number from 0 to 65535',
    },
  ]
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:2:${problem}`])
    })
  }
})
