/**
 * The onboarding kit, each file by the tool that it is for, at the gateway as it is shipped: it
 * resolves one cluster, and else only what browsers probe. Run by `npm run test:clients`.
 * @module
 */
import { deepEqual, match, rejects } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { start } from '../real-cluster/processes.ts'
import {
  browserMissing,
  DOMAIN,
  inOwnEtc,
  NAME,
  NEEDS_ROOT,
  PUBLIC,
  startShipped,
} from './own-machine.ts'
import { findMissing, preparePython, shell } from './programs.ts'
import { ADMIN, RUN, TlsGateways } from './tls-gateway.ts'

/** The public page requests the cluster's until it gets it. */
const SCRIPT = `const page = 'http://${NAME}:' + location.port + '/'
const go = () => fetch(page, { mode: 'no-cors' }).catch(() => setTimeout(go, 250))
go()`
const missing = ['openssl', 'python3'].map(findMissing).find((one) => one !== undefined)

describeUnless(NEEDS_ROOT ?? missing, 'the onboarding kit', () => {
  const gateways = new TlsGateways()
  const file = (name: string): string => gateways.file(name)
  const kit = (name: string): string => join(file('kit'), name)
  let pages: Server | undefined
  let origin = ''
  let page = ''
  let token = ''

  beforeAll(async () => {
    pages = await gateways.startPage(SCRIPT, (host) => host.startsWith(NAME))
    page = `http://${NAME}:${gateways.pagePort}/`
    origin = await startShipped(gateways)
    const args = [RUN, 'token', 'create', '--gateway', origin, '--kit', file('kit')]
    const environment = {
      ...process.env,
      KUBEDOH_ADMIN_TOKEN: ADMIN,
      KUBEDOH_CA: file('ca.pem'),
      KUBEDOH_PROFILE_CERT: file('cert.pem'),
      KUBEDOH_PROFILE_KEY: file('key.pem'),
    }
    const made = spawnSync(process.execPath, args, { env: environment, encoding: 'utf8' })
    token = made.stdout.trim()
    deepEqual(made.status, 0, made.stderr)
  })

  afterAll(() => gateways.stop())

  /** Resolves when a browser has requested the public page and the cluster's. */
  function bothOpened(): Promise<void> {
    const waiting = new Set([NAME, PUBLIC])
    return new Promise((resolve) => {
      pages?.on('request', ({ headers: { host = '' } }) => {
        waiting.delete(host.replace(/:\d+$/, ''))
        if (waiting.size === 0) resolve()
      })
    })
  }

  it('has a profile with the keys that Apple documents, signed', async () => {
    const verify = `openssl cms -verify -inform DER -in ${kit('apple.mobileconfig')}`
    const checked = `${verify} -CAfile ${file('ca.pem')} -purpose any -out ${file('plain')}`
    await shell(`${checked} 2>&1`)
    writeFileSync(file('plist.py'), PLIST)
    const report = JSON.parse(await shell(`python3 ${file('plist.py')} ${file('plain')}`))
    deepEqual(report, {
      unknown: [],
      dns: {
        DNSProtocol: 'HTTPS',
        ServerURL: `${origin}/t/${token}/dns-query`,
        SupplementalMatchDomains: [DOMAIN],
      },
    })
    const to = `${origin}/t/${token}/kit/apple.mobileconfig`
    deepEqual(
      await shell(`curl -sSf --cacert ${file('ca.pem')} ${to}`),
      readFileSync(file('plain'), 'utf8'),
    )
  })

  it('designates the gateway by the URL of the client (RFC 9462)', async () => {
    const { host, port } = new URL(origin)
    const [curl, base] = [`curl -sSf --cacert ${file('ca.pem')}`, `https://${host}/t/${token}`]
    const url = `${base}/resolve?name=_dns.resolver.arpa&type=SVCB`
    const { Answer } = JSON.parse(await shell(`${curl} '${url}'`))
    const path = `/t/${token}/dns-query{?dns}`
    const data = `1 localhost. alpn="h2,http/1.1" port="${port}" dohpath="${path}"`
    deepEqual(Answer, [{ name: '_dns.resolver.arpa.', type: 64, TTL: 300, data }])
    const { message } = parseQuestion('_dns.resolver.arpa SVCB')
    for (const version of ['--http1.1', '--http2']) {
      const get = `${base}/dns-query?dns=${encodeBase64url(message)}`
      await shell(`${curl} ${version} -o ${file('reply')} '${get}'`)
      const [, record] = formatReply(new Uint8Array(readFileSync(file('reply'))))
      deepEqual(record, `_dns.resolver.arpa. 300 IN SVCB ${data}`, version)
    }
  })

  describeUnless(preparePython().missing, 'dnspython', () => {
    it('upgrades from DNS to DNS over HTTPS by the block of docs/devices.md', async () => {
      const page = readFileSync(join(import.meta.dirname, '../../docs/devices.md'), 'utf8')
      const [block = ''] = /^resolver\.arpa \{\n[\s\S]*?\n\}\n/m.exec(page) ?? []
      const [dns, https] = [await freePort(), await freePort()]
      const designated = block
        .replace('resolver.arpa {', `resolver.arpa:${dns} {\n    bind 127.0.0.1`)
        .replace('1 dns.example.org. alpn=h2', `1 localhost. alpn=h2 port=${https}`)
      const served = `https://.:${https} {
    bind 127.0.0.1
    tls ${file('cert.pem')} ${file('key.pem')}
    template IN A {
        answer "{{ .Name }} 60 IN A 192.0.2.80"
    }
}
`
      writeFileSync(file('Designated'), `${designated}${served}`)
      await gateways.run(['serve', '--conf', file('Designated')]).line(/^ready/)
      writeFileSync(file('ddr.py'), DDR)
      const run = `${preparePython().python} ${file('ddr.py')} ${dns}`
      deepEqual(
        await shell(`SSL_CERT_FILE=${file('ca.pem')} ${run}`),
        `https://localhost:${https}/dns-query 192.0.2.80\n`,
      )
    })
  })

  describeUnless(findMissing('systemd-analyze'), 'systemd', () => {
    it('accepts the unit', () => {
      const unit = readFileSync(kit('kubedoh-connect.service'), 'utf8')
      const kubedoh = join(import.meta.dirname, '../../bin/kubedoh')
      const path = file('kubedoh-connect.service')
      writeFileSync(path, unit.replace('/usr/local/bin/kubedoh', kubedoh))
      const verify = ['verify', '--man=no', path]
      const { stderr } = spawnSync('systemd-analyze', verify, { encoding: 'utf8' })
      deepEqual(
        stderr.split('\n').filter((line) => line.includes('kubedoh')),
        [],
      )
    })
  })

  for (const [program, command] of [
    ['sh', 'sh KIT/curl.sh'],
    ['node', 'node KIT/node.mjs'],
    ['python3', 'python3 KIT/python.py'],
    ['go', 'cd KIT && go vet main.go && test -z "$(gofmt -l main.go)" && go run main.go'],
  ] as const) {
    describeUnless(findMissing(program), program, () => {
      it("requests the cluster's page as the kit has it", async () => {
        const ca = ['CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']
        const variables = ca.map((name) => `export ${name}=${file('ca.pem')}`).join('; ')
        const run = command.replaceAll('KIT', file('kit'))
        const request = (own: string): Promise<string> =>
          shell(`export KUBEDOH_CLIENT_TOKEN=${own}; ${variables}; ${run} ${page}`)
        match(await request(token), /hello from the page/)
        // curl reports only that it cannot resolve the host.
        if (program !== 'sh') await rejects(request('wrong'), /HTTP (Error )?401/)
      })
    })
  }

  describeUnless(findMissing('unshare') ?? inUse(), 'kubedoh-dns.sh', () => {
    it("lets a container resolve the cluster's names, and others as before", async () => {
      mkdirSync(file('bin'))
      const programs = {
        kubedoh: `#!/bin/sh\nexec ${process.execPath} ${RUN} "$@"\n`,
        resolvectl: '#!/bin/sh\nexit 1\n',
      }
      for (const [name, text] of Object.entries(programs)) {
        writeFileSync(file(`bin/${name}`), text)
        chmodSync(file(`bin/${name}`), 0o755)
      }
      const ask = `getent ahostsv4 ${NAME}; getent ahostsv4 ${PUBLIC}; ! getent ahostsv4 no.test`
      const command = ['sh', kit('kubedoh-dns.sh'), 'sh', '-c', ask]
      const { stdout, stderr, status } = spawnSync(
        'unshare',
        inOwnEtc(file('container'), {}, command),
        {
          encoding: 'utf8',
          env: {
            ...process.env,
            PATH: `${file('bin')}:${process.env.PATH}`,
            KUBEDOH_CLIENT_TOKEN: token,
            KUBEDOH_CA: file('ca.pem'),
            TMPDIR: file(''),
          },
        },
      )
      deepEqual({ stderr, status }, { stderr: '', status: 0 })
      for (const name of [NAME, PUBLIC])
        match(stdout, new RegExp(`^127.0.0.1 +STREAM ${name}$`, 'm'))
    })
  })

  describeUnless(browserMissing('chromium'), 'Chromium, in automatic mode', () => {
    it("opens the cluster's page by the gateway, and a public one by the system", async () => {
      const home = file('home')
      mkdirSync(join(home, '.pki/nssdb'), { recursive: true })
      await gateways.trust(join(home, '.pki/nssdb'))
      const policies = readFileSync(kit('chromium-policies.json'), 'utf8')
      const own = { 'chromium/policies/managed/kubedoh.json': policies }
      const flags = ['--headless=new', '--no-sandbox', '--disable-gpu']
      const profile = `--user-data-dir=${file('chromium-profile')}`
      const opened = bothOpened()
      const to = `http://${PUBLIC}:${gateways.pagePort}/`
      const command = ['env', `HOME=${home}`, 'chromium', ...flags, profile, to]
      await runUntil(['unshare', ...inOwnEtc(file('chromium'), own, command)], opened)
    })
  })

  describeUnless(browserMissing('firefox-esr'), 'Firefox, with its confirmation', () => {
    it("opens the cluster's page by the gateway, and a public one by the system", async () => {
      const profile = file('firefox-profile')
      mkdirSync(profile)
      await gateways.trust(profile)
      const policies = readFileSync(kit('firefox-policies.json'), 'utf8')
      const own = { 'firefox/policies/policies.json': policies }
      const opened = bothOpened()
      const to = `http://${PUBLIC}:${gateways.pagePort}/`
      const flags = ['--headless', '--no-remote', '--profile', profile, to]
      const command = ['env', `HOME=${file('')}`, 'firefox-esr', ...flags]
      await runUntil(['unshare', ...inOwnEtc(file('firefox'), own, command)], opened)
    })
  })
})

async function runUntil(
  [program = '', ...args]: readonly string[],
  done: Promise<void>,
): Promise<void> {
  const running = start(program, args)
  try {
    // No line matches: this rejects when the program ends too early, or after a minute.
    await Promise.race([done, running.line(/^done$/)])
  } finally {
    // unshare passes only this signal on, and the whole namespace ends.
    running.child.kill('SIGKILL')
    await running.stop()
  }
}

/** Returns why the script cannot listen on port 53 of the loopback address. */
function inUse(): string | undefined {
  const listen = 'import socket; socket.socket(2, 2).bind(("127.0.0.1", 53))'
  const { status } = spawnSync('python3', ['-c', listen])
  return status === 0 ? undefined : 'port 53 of 127.0.0.1 is in use'
}

const DDR = `import dns.resolver, sys
resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers = ['127.0.0.1']
resolver.port = int(sys.argv[1])
resolver.try_ddr()
[server] = resolver.nameservers
print(server.url, resolver.resolve('web.example.org', 'A')[0])
`
/** The payload keys of Apple's `mdm/profiles`: TopLevel, CommonPayloadKeys, dnsSettings.managed. */
const PLIST = `import json, plistlib, sys
common = {'PayloadIdentifier': str, 'PayloadType': str, 'PayloadUUID': str, 'PayloadVersion': int,
    'PayloadDisplayName': str, 'PayloadDescription': str, 'PayloadOrganization': str}
top = {**common, 'PayloadContent': list, 'PayloadScope': str, 'PayloadExpirationDate': None,
    'PayloadRemovalDisallowed': bool}
own = {**common, 'DNSSettings': dict, 'OnDemandRules': list, 'ProhibitDisablement': bool}
dns = {'DNSProtocol': str, 'ServerURL': str, 'ServerName': str, 'ServerAddresses': list,
    'AllowFailover': bool, 'SupplementalMatchDomains': list}
unknown = []
def check(values, keys, required):
    for key, value in values.items():
        if key not in keys or not isinstance(value, keys[key]): unknown.append(key)
    unknown.extend(key for key in required if key not in values)
profile = plistlib.load(open(sys.argv[1], 'rb'))
needed = ['PayloadIdentifier', 'PayloadType', 'PayloadUUID', 'PayloadVersion']
check(profile, top, needed + ['PayloadContent'])
assert profile['PayloadType'] == 'Configuration' and profile['PayloadScope'] == 'System'
[payload] = profile['PayloadContent']
check(payload, own, needed + ['DNSSettings'])
assert payload['PayloadType'] == 'com.apple.dnsSettings.managed'
check(payload['DNSSettings'], dns, ['DNSProtocol'])
print(json.dumps({'unknown': unknown, 'dns': payload['DNSSettings']}))
`
