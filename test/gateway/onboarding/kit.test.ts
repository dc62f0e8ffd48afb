import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { KitError, kitFiles, readKit } from '../../../src/gateway/onboarding/kit.ts'

const URL = 'https://dns.example.net'
const TOKEN = 'kdt_0123456789ab_c2VjcmV0'

describe('readKit', () => {
  test('takes the origin, and each domain once, in lower case without its final dot', () => {
    const kit = readKit(`${URL}:8443/some/path`, TOKEN, ['Prod.Example.org.', 'prod.example.org'])
    assert.deepEqual(kit, {
      origin: `${URL}:8443`,
      host: 'dns.example.net',
      dohUrl: `${URL}:8443/t/${TOKEN}/dns-query`,
      domains: ['prod.example.org'],
      token: TOKEN,
      hostname: '',
      audiences: { github: '', gitlab: '' },
    })
  })

  test('refuses an audience that a shell would read', () => {
    for (const github of ["a'b", 'a b', '$(id)', 'a\n', 'a'.repeat(257)]) {
      const audiences = { github, gitlab: '' }
      assert.throws(() => readKit(URL, TOKEN, ['a.test'], { audiences }), KitError, github)
    }
  })

  test('leaves the path without a token for a public gateway', () => {
    assert.equal(readKit(URL, '', ['a.test']).dohUrl, `${URL}/dns-query`)
    assert.equal(readKit('https://[2001:DB8::1]', '', ['a.test']).host, '[2001:db8::1]')
  })

  for (const [what, url, token, domains] of [
    ['a URL without TLS', 'http://dns.example.net', TOKEN, ['a.test']],
    ['text that is no URL', 'dns.example.net', TOKEN, ['a.test']],
    ['a quote in the host', "https://a'b", TOKEN, ['a.test']],
    ['a command in the host', 'https://a$(id)b', TOKEN, ['a.test']],
    ['a quote in the token', URL, `${TOKEN}"`, ['a.test']],
    ['a slash in the token', URL, 'a/b', ['a.test']],
    ['no domain', URL, TOKEN, []],
    ['the root', URL, TOKEN, ['.']],
    ['markup in a domain', URL, TOKEN, ['<a>.test']],
    ['a space in a domain', URL, TOKEN, ['a b.test']],
    ['a line break after a domain', URL, TOKEN, ['a.test\n']],
    ['an option as a domain', URL, TOKEN, ['--print']],
    ['a label of 64 bytes', URL, TOKEN, [`${'a'.repeat(64)}.test`]],
    ['65 domains', URL, TOKEN, Array.from({ length: 65 }, (_, i) => `a${i}.test`)],
  ] as const) {
    test(`refuses ${what}, without the token in its message`, () => {
      assert.throws(
        () => readKit(url, token, domains),
        (error: unknown) => error instanceof KitError && !error.message.includes(token || '?'),
      )
    })
  }
})

describe('kitFiles', () => {
  test('have the hostname in one file only, where there is one', async () => {
    const hostname = '0wkp1p09z9e7g10he8vhtar2er.doh.example.org'
    const files = await kitFiles(readKit(URL, TOKEN, ['a.test'], { hostname }))
    const having = files.filter(({ text }) => text.includes(hostname)).map(({ name }) => name)
    assert.deepEqual(having, ['hostname.txt'])
    assert.match(files[0]?.text ?? '', /keep them secret:.*`hostname\.txt`/)
    assert.throws(() => readKit(URL, TOKEN, ['a.test'], { hostname: 'a b' }), KitError)
  })

  const names = async (token: string): Promise<readonly string[]> => {
    const files = await kitFiles(readKit(URL, token, ['a.test', 'b.test']))
    return files.filter(({ text }) => text.includes('kdt_')).map(({ name }) => name)
  }

  test('keeps the token out of file names, the README, and what goes into repositories', async () => {
    assert.deepEqual(await names(TOKEN), [
      'apple.mobileconfig',
      'windows.ps1',
      'kubedoh-connect.env',
      'chromium-policies.json',
      'chrome-edge.reg',
      'firefox-policies.json',
    ])
    assert.deepEqual(await names(''), [])
  })

  test('has a README that names every file, and those with the token', async () => {
    const audiences = { github: 'one', gitlab: 'two' }
    for (const kit of [
      readKit(URL, TOKEN, ['a.test']),
      readKit(URL, TOKEN, ['b.test'], { audiences }),
    ]) {
      const [readme, ...files] = await kitFiles(kit)
      for (const { name } of files) assert.ok(readme?.text.includes(name), name)
      assert.match(readme?.text ?? '', /secret: `apple.mobileconfig`, `windows.ps1`/)
    }
  })

  test('takes the identity of jobs only where the gateway has an issuer for it', async () => {
    const filesOf = async (github: string, gitlab: string): Promise<Map<string, string>> => {
      const files = await kitFiles(
        readKit(URL, TOKEN, ['a.test'], { audiences: { github, gitlab } }),
      )
      return new Map(files.map(({ name, text }) => [name, text]))
    }
    const none = await filesOf('', '')
    assert.ok(!none.has('kubedoh-token.sh'))
    assert.match(none.get('action.yml') ?? '', /required: true/)
    assert.match(none.get('README.md') ?? '', /`token: \$\{\{ secrets\.KUBEDOH_CLIENT_TOKEN \}\}`/)
    const gitlab = await filesOf('', 'two')
    assert.match(gitlab.get('README.md') ?? '', /KUBEDOH_JWT: \{ aud: two \}/)
    assert.match(gitlab.get('action.yml') ?? '', /required: true/)
    const github = await filesOf('one', '')
    assert.match(github.get('kubedoh-token.sh') ?? '', /'audience=one'/)
    assert.match(github.get('README.md') ?? '', /`permissions: \{ id-token: write, contents: read/)
    assert.doesNotMatch(github.get('README.md') ?? '', /GitLab|secrets\./)
  })

  test('has plain text only, with a line break at the end', async () => {
    for (const { name, text } of await kitFiles(readKit(URL, TOKEN, ['a.test']))) {
      assert.match(text, /^[\t\r\n -~]+\n$/, name)
    }
  })
})
