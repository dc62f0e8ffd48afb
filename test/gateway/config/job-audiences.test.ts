import assert from 'node:assert/strict'
import { test } from 'vitest'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { jobAudiences } from '../../../src/gateway/config/job-audiences.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'

const GITHUB = 'https://token.actions.githubusercontent.com'
const { privateKey: EXCHANGE_KEY } = await generateKeyPair()

for (const [what, issuer, audiences, github, gitlab] of [
  ['GitHub', GITHUB, ['one', 'two'], 'one', ''],
  ['GitHub with an enterprise', `${GITHUB}/acme`, ['one'], 'one', ''],
  ['an Enterprise Server', 'https://git.acme.test/_services/token', ['one'], 'one', ''],
  ['GitLab', 'https://gitlab.com', ['https://dns.example.org'], '', 'https://dns.example.org'],
  ["one's own GitLab", 'https://gitlab.acme.test', ['one'], '', 'one'],
  ['an audience that shells would read', GITHUB, ["a'b", 'c'], 'c', ''],
  ['another host', 'https://token.actions.githubusercontent.com.evil.test', ['one'], '', ''],
  ['people', 'https://sso.example.com', ['one'], '', ''],
] as const) {
  test(`the audience of jobs of ${what}`, async () => {
    const rules = [{ when: { sub: '*' }, namespaces: ['*'] }]
    const ISSUERS = JSON.stringify([{ issuer, audiences, rules }])
    const config = await readGatewayConfig({
      ISSUERS,
      EXCHANGE_KEY,
      COREFILE: '. {\n  whoami\n}\n',
    })
    assert.deepEqual(jobAudiences(config), { github, gitlab })
    assert.deepEqual(jobAudiences({ ...config, exchangeKeys: [] }), { github: '', gitlab: '' })
  })
}
