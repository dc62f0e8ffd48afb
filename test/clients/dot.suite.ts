/**
 * Real clients of DNS over TLS, and of HTTPS at a fixed path, with a token in the hostname at
 * `kubedoh gateway`: kdig, unbound and CoreDNS. Run by `npm run test:clients`.
 * @module
 */
import { doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { hostTokenOf } from '../../src/gateway/access/token.ts'
import { resolvePackages, unpackPackages } from '../debian-packages.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { frame } from '../server/clients.ts'
import { findMissing, shell } from './programs.ts'
import { TlsGateways } from './tls-gateway.ts'

const DOMAIN = 'doh.example.org'
const NAME = 'page.shop.svc.names.test'
const COREFILE = `. {
  kubernetes names.test {
    cluster shop
  }
}
dnsotls-ds.metric.gstatic.com metric.gstatic.com {
  template IN AAAA {
    answer "{{ .Name }} 60 IN AAAA 2001:db8::1"
  }
}
`

describeUnless(
  findMissing('kdig') ?? findMissing('dig') ?? findMissing('go') ?? false,
  'a token in a hostname',
  () => {
    const gateways = new TlsGateways()
    const running: Running[] = []
    let [https, dot, host] = [0, 0, '']

    const ask = (words: string): Promise<string> =>
      shell(`kdig @127.0.0.1 -p ${dot} +tls +tls-ca=${gateways.file('root.pem')} ${words}`)

    /** Starts a program that forwards, and asks it. */
    const through = async (args: readonly string[], port: number): Promise<string> => {
      const [program = '', ...rest] = args
      const one = start(program, rest, {}, gateways.file('.'))
      running.push(one)
      for (let attempt = 0; ; attempt++) {
        const text = await shell(`dig @127.0.0.1 -p ${port} +time=2 +tries=1 ${NAME} A || true`)
        if (text.includes('status:') || attempt > 50) return text
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }

    beforeAll(async () => {
      await gateways.startPage()
      // A certificate for each name below the domain, as DNS-01 gives one.
      await shell(
        `cd ${gateways.file('.')} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes ` +
          `-days 30 -subj /CN=${DOMAIN} -addext subjectAltName=DNS:*.${DOMAIN},DNS:localhost,IP:127.0.0.1 ` +
          '-keyout key.pem -out cert.pem 2>&1 && cp cert.pem root.pem && cat cert.pem >> ca.pem',
      )
      dot = await freePort()
      const flags = ['--dot.listen', `127.0.0.1:${dot}`, '--client-ca', gateways.file('ca.pem')]
      https = await gateways.start('shop', COREFILE, flags, { TOKEN_DOMAIN: DOMAIN })
      const token = await gateways.makeToken(https, { namespaces: ['*'] })
      host = `${await hostTokenOf(token)}.${DOMAIN}`
    })

    afterAll(async () => {
      for (const one of running.toReversed()) await one.stop()
      await gateways.stop()
    })

    it('is admitted over TLS by kdig, in strict mode, with padding, many on one connection', async () => {
      const text = await ask(`+tls-hostname=${host} +tls-sni=${host} +padding ${NAME} A`)
      match(text, /127\.0\.0\.1/)
      match(text, /TLS session \(TLS1\.3\)/)
      match(text, /PADDING: \d+ B/)
      const many = await ask(`+tls-hostname=${host} +keepopen ${`${NAME} A `.repeat(20)}`)
      equal(many.match(/status: NOERROR/g)?.length, 20)
    })

    it('is admitted by a certificate that a token has', async () => {
      const sum = await shell(
        `openssl x509 -in ${gateways.file('client.pem')} -noout -fingerprint -sha256 | tr -d : | tr A-Z a-z`,
      )
      const identities = [`cert:${sum.trim().slice(-64)}`]
      await gateways.makeToken(https, { name: 'certificate', identities })
      const files = `+tls-certfile=${gateways.file('client.pem')} +tls-keyfile=${gateways.file('client.key')}`
      match(await ask(`+tls-hostname=localhost ${files} ${NAME} A`), /127\.0\.0\.1/)
    })

    it('is refused with a reason without a token, and with a wrong one', async () => {
      const wrong = host.replace(/^./, (letter) => (letter === '0' ? '1' : '0'))
      for (const name of ['localhost', wrong]) {
        const text = await ask(`+tls-hostname=${name} +edns ${NAME} A`)
        match(text, /status: REFUSED/)
        match(text, /EDE: 18 \(Prohibited\)/)
      }
    })

    it('is admitted over HTTPS by the host alone, and refused at another connection', async () => {
      const doh = (url: string, more = ''): Promise<string> =>
        shell(
          `curl -sS ${more} --cacert ${gateways.file('root.pem')} -w ' %{http_code}' ` +
            `--connect-to ::127.0.0.1:${https} '${url}'`,
        )
      const path = `resolve?name=${NAME}&type=A`
      match(await doh(`https://${host}/${path}`), /127\.0\.0\.1.* 200$/s)
      match(await doh(`https://${host.toUpperCase()}/${path}`, '--http1.1'), /127\.0\.0\.1.* 200$/s)
      match(await doh(`https://localhost/${path}`, `-H 'Host: ${host}'`), /misdirected.* 421$/s)
      match(await doh(`https://www.${DOMAIN}/${path}`), /bad_host_token.* 400$/s)
    })

    it('is used by CoreDNS, over TLS and at a fixed path', async () => {
      const [tls, doh] = [await freePort(), await freePort()]
      const block = (port: number, to: string): string => `.:${port} {
      bind 127.0.0.1
      forward . ${to} {
        tls root.pem
        tls_servername ${host}
      }
    }
    `
      const corefile = gateways.file('Corefile.theirs')
      const blocks = [
        block(tls, `tls://127.0.0.1:${dot}`),
        block(doh, `https://127.0.0.1:${https}`),
      ]
      writeFileSync(corefile, blocks.join(''))
      match(await through([prepareCoreDns(), '-conf', corefile], tls), /127\.0\.0\.1$/m)
      match(await shell(`dig @127.0.0.1 -p ${doh} ${NAME} A`), /127\.0\.0\.1$/m)
    })

    describe('unpacked programs of Debian', () => {
      let root = ''
      const run = (program: string, args: readonly string[]): readonly string[] => {
        const libraries = join(root, 'usr/lib/x86_64-linux-gnu')
        return ['env', `LD_LIBRARY_PATH=${libraries}`, join(root, program), ...args]
      }
      beforeAll(() => {
        const packages = resolvePackages(['unbound', 'stubby'])
        const wanted = packages.filter((name) => /^(?:unbound|stubby|lib(?!c6$|c-bin))/.test(name))
        root = unpackPackages('dot-clients', wanted)
      }, 120_000)

      it('unbound is admitted', async () => {
        const port = await freePort()
        const file = gateways.file('unbound.conf')
        writeFileSync(
          file,
          `server:
  directory: "${gateways.file('.')}"
  chroot: ""
  username: ""
  pidfile: ""
  do-daemonize: no
  use-syslog: no
  interface: 127.0.0.1@${port}
  tls-cert-bundle: "${gateways.file('root.pem')}"
  module-config: iterator
  do-not-query-localhost: no
  local-zone: "test." nodefault
forward-zone:
  name: "names.test."
  forward-tls-upstream: yes
  forward-addr: 127.0.0.1@${dot}#${host}
`,
        )
        match(await through(run('usr/sbin/unbound', ['-d', '-c', file]), port), /127\.0\.0\.1$/m)
      })

      it('stubby is admitted, in strict mode', async () => {
        const port = await freePort()
        const file = gateways.file('stubby.yml')
        writeFileSync(
          file,
          `resolution_type: GETDNS_RESOLUTION_STUB
dns_transport_list: [GETDNS_TRANSPORT_TLS]
tls_authentication: GETDNS_AUTHENTICATION_REQUIRED
tls_ca_file: "${gateways.file('root.pem')}"
listen_addresses: [127.0.0.1@${port}]
upstream_recursive_servers:
  - address_data: 127.0.0.1
    tls_port: ${dot}
    tls_auth_name: "${host}"
`,
        )
        match(await through(run('usr/bin/stubby', ['-C', file]), port), /127\.0\.0\.1$/m)
      })
    })

    /** Android's resolver in strict mode: packages/modules/DnsResolver, DnsTlsSocket. */
    describe('as Android sends', () => {
      it('is validated, and gets pipelined responses in any order', async () => {
        const socket = connect({
          port: dot,
          host: '127.0.0.1',
          servername: host,
          ca: readFileSync(gateways.file('root.pem')),
        })
        await new Promise((resolve, reject) => {
          socket.once('secureConnect', resolve)
          socket.once('error', reject)
        })
        ok(socket.authorized)
        const probe = 'AbCd1234-dnsotls-ds.metric.gstatic.com AAAA +edns'
        const questions = [
          `${probe} +id=1`,
          ...Array.from({ length: 30 }, (_, i) => `${NAME} A +edns +padding +id=${i + 2}`),
        ]
        const replies = new Map<number, string[]>()
        let rest = Buffer.alloc(0)
        const ended = new Promise<void>((resolve) => {
          socket.on('data', (chunk: Buffer) => {
            rest = Buffer.concat([rest, chunk])
            while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
              const end = 2 + rest.readUInt16BE()
              replies.set(rest.readUInt16BE(2), formatReply(new Uint8Array(rest.subarray(2, end))))
              rest = rest.subarray(end)
            }
            if (replies.size === questions.length) resolve()
          })
        })
        for (const question of questions) socket.write(frame(parseQuestion(question).message))
        await ended
        for (const [status = ''] of replies.values()) match(status, /^NOERROR/)
        match(replies.get(1)?.join() ?? '', /2001:db8::1/)
        socket.destroy()
      })
    })

    it('is in no line that any of the programs of ours printed', () => {
      for (const text of gateways.printed()) doesNotMatch(text, new RegExp(host.slice(0, 26), 'i'))
    })
  },
)
