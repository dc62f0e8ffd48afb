/** `kubedoh check --issuers`. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { runCli } from '../run-cli.ts'

const RULE = { when: { sub: 'a' }, namespaces: ['shop'] }

function listWith(...rules: readonly object[]): string {
  return JSON.stringify([{ issuer: 'https://ci.example.com', audiences: ['kubedoh'], rules }])
}

describe('check --issuers', () => {
  const cases: {
    name: string
    text: string
    cluster?: string
    status?: number
    out?: string
    err?: string
  }[] = [
    { name: 'a good list', text: listWith(RULE), out: '1 issuer, 1 rule, no problems' },
    { name: 'no issuer', text: '[]', out: '0 issuers, 0 rules, no problems' },
    {
      name: 'no JSON',
      text: '[{"issuer": }]',
      status: 1,
      err: 'FILE is not JSON: Unexpected token \'}\', "[{"issuer": }]" is not valid JSON',
    },
    { name: 'no list', text: '{}', status: 1, err: 'FILE: ISSUERS is not a JSON list' },
    {
      name: 'a rule that an earlier one covers by a pattern',
      text: listWith(
        { ...RULE, when: { repository: ['acme/*', 'b'] } },
        { ...RULE, when: { repository: 'acme/shop-*', ref: 'main' } },
      ),
      status: 1,
      err: 'FILE: ISSUERS[0].rules[1] never counts: ISSUERS[0].rules[0] fits before it',
    },
    {
      name: 'a rule for another issuer',
      text: listWith({ ...RULE, when: { iss: ['https://other.*', 'ci'] } }),
      status: 1,
      err: 'FILE: ISSUERS[0].rules[0] never counts: its "iss" is not that of its issuer',
    },
    {
      name: 'rules that surprise',
      text: listWith(
        { ...RULE, when: { sub: 'a', aud: 'other' } },
        { ...RULE, when: { iss: 'https://ci.*', aud: ['x', 'kube*'] } },
        { ...RULE, when: { sub: '*', org: { team: ['a', '*'] } } },
      ),
      out: '1 issuer, 3 rules, 2 warnings',
      err:
        'FILE: warning: ISSUERS[0].rules[0] wants an "aud" that is not one of the audiences\n' +
        'FILE: warning: ISSUERS[0].rules[2] fits every token of https://ci.example.com: ' +
        '"when" has no pattern but "*"',
    },
    {
      name: 'a list of a cluster',
      text: listWith({ ...RULE, clusters: ['lab'] }),
      cluster: 'lab',
      out: '1 issuer, 1 rule, no problems',
    },
    {
      name: 'a list of a cluster that names another one',
      text: listWith({ ...RULE, clusters: ['lab'] }),
      cluster: 'dev',
      status: 1,
      err: 'FILE: issuers[0].rules[0].clusters is not ["dev"], the only one it may name',
    },
  ]
  for (const { name, text, cluster, status = 0, out = '', err = '' } of cases) {
    test(`reads ${name}`, async (t) => {
      const file = join(temporaryFolder(t, { 'issuers.json': text }), 'issuers.json')
      const more = cluster === undefined ? [] : ['--cluster', cluster]
      const ran = await runCli(['check', '--issuers', file, ...more])
      const prefix = status === 1 ? 'kubedoh: ' : ''
      assert.deepEqual(ran, {
        status,
        stdout: out && `${file}: ${out}\n`,
        stderr: err && `${prefix}${err.replaceAll('FILE', file)}\n`,
      })
    })
  }
})
