import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'vitest'
import { parse } from 'yaml'
import { VERSION } from '../../../src/dns/telemetry/version.ts'
import { kitFiles, readKit } from '../../../src/gateway/onboarding/kit.ts'

const files = await kitFiles(readKit('https://dns.example.net', 'kdt_1_a', ['a.test', 'b.test']))
const textOf = (name: string): string => files.find((file) => file.name === name)?.text ?? ''

test('the recipe for curl has the token in no argument, which other users can list', () => {
  const [command = '', ...config] = textOf('curl.sh').split('\n').slice(2)
  assert.doesNotMatch(command, /TOKEN/)
  assert.match(config.join('\n'), /^doh-url = .*\$KUBEDOH_CLIENT_TOKEN@/)
})

test('the action installs this version and passes the token by the environment only', () => {
  const { inputs, runs } = parse(textOf('action.yml'))
  assert.deepEqual(Object.keys(inputs), ['token'])
  assert.equal(runs.using, 'composite')
  assert.deepEqual(runs.steps, [
    { shell: 'sh', run: `npm install --global kubedoh@${VERSION}` },
    {
      shell: 'sh',
      run: 'sudo -E env "PATH=$PATH" sh "$GITHUB_ACTION_PATH/kubedoh-dns.sh"\n',
      env: { KUBEDOH_CLIENT_TOKEN: `$${'{{'} inputs.token }}` },
    },
  ])
})

test('the action takes the identity of the job where there is no token, and masks it', async () => {
  const audiences = { github: 'kubedoh', gitlab: '' }
  const kit = readKit('https://dns.example.net', 'kdt_1_a', ['a.test'], { audiences })
  const action = (await kitFiles(kit)).find(({ name }) => name === 'action.yml')
  const { inputs, runs } = parse(action?.text ?? '')
  assert.equal(inputs.token.required, false)
  assert.equal(
    runs.steps[1].run,
    `if [ -z "$KUBEDOH_CLIENT_TOKEN" ]; then
  KUBEDOH_CLIENT_TOKEN=$(sh "$GITHUB_ACTION_PATH/kubedoh-token.sh")
fi
echo "::add-mask::$KUBEDOH_CLIENT_TOKEN"
sudo -E env "PATH=$PATH" sh "$GITHUB_ACTION_PATH/kubedoh-dns.sh"
`,
  )
})

/** The grammar of the Dockerfile reference, as far as the recipe uses it. */
const INSTRUCTION =
  /^(?:#.*|FROM [\w.:/-]+|RUN \S.*|COPY \S+ \S+\/|(?:ENTRYPOINT|CMD) \[(?:"[^"]*"(?:, )?)+\])$/

test('the Dockerfile has valid instructions and copies what the kit has', () => {
  const lines = textOf('Dockerfile').trimEnd().split('\n')
  for (const line of lines) assert.match(line, INSTRUCTION)
  const [, source = ''] = /^COPY (\S+)/m.exec(textOf('Dockerfile')) ?? []
  assert.ok(files.some(({ name }) => name === source))
})

test('the devcontainer builds the Dockerfile and takes the token from the host', () => {
  assert.deepEqual(JSON.parse(textOf('devcontainer.json')), {
    build: { dockerfile: 'Dockerfile' },
    containerUser: 'root',
    containerEnv: { KUBEDOH_CLIENT_TOKEN: `$${'{localEnv'}:KUBEDOH_CLIENT_TOKEN}` },
    postStartCommand: 'sh /usr/local/bin/kubedoh-dns.sh',
  })
})

test('the script for containers connects all domains', () => {
  const command = '--gateway https://dns.example.net --domain a.test --domain b.test'
  assert.ok(textOf('kubedoh-dns.sh').includes(`kubedoh connect ${command} $how`))
})

test('the script for containers runs as root and writes to no name that others may guess', () => {
  assert.doesNotMatch(textOf('kubedoh-dns.sh'), /\/tmp|TMPDIR/)
})

test('the script keeps the other nameservers however often a container starts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-script-'))
  const file = (name: string): string => join(folder, name)
  const nameservers = 'search a.test\nnameserver 192.0.2.53\n'
  // The server runs until the test has removed it.
  const server = '#!/bin/sh\necho ready\nwhile [ -e "$0" ]; do sleep 0.1; done\n'
  try {
    writeFileSync(file('kubedoh'), server, { mode: 0o755 })
    writeFileSync(file('resolvectl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    writeFileSync(file('resolv.conf'), nameservers)
    const script = textOf('kubedoh-dns.sh').replaceAll('/etc/resolv.conf', file('resolv.conf'))
    const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) }
    for (let starts = 0; starts < 3; starts++) {
      const { status, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' })
      assert.deepEqual([status, stderr], [0, ''])
    }
    const after = readFileSync(file('resolv.conf'), 'utf8')
    assert.equal(after, `nameserver 127.0.0.1\n${nameservers}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
