import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readCorefile } from '../../src/corefile/parse-corefile.ts'
import { COREFILE, outline, sourceOf } from './source.ts'

type Case = { name: string; text: string; today: string; notices: string[] }

const UPSTREAM =
  '"upstream" does nothing in CoreDNS today: names are resolved through the whole server; it is ' +
  'left out'

describe('translateOldWords', () => {
  const cases: Case[] = [
    {
      name: 'leaves today’s words',
      text: 'kubernetes a {\npods insecure\nendpoint b\n}\nforward . c',
      today: '. | kubernetes a { pods insecure ; endpoint b } | forward . c',
      notices: [],
    },
    {
      name: 'reads proxy as forward',
      text: 'proxy . 192.0.2.1 /etc/resolv.conf',
      today: '. | forward . 192.0.2.1 /etc/resolv.conf',
      notices: ['2:1: "proxy" is gone since CoreDNS 1.5.0; read as "forward"'],
    },
    {
      name: 'reads the options of proxy that forward has',
      text: 'proxy . a {\npolicy round_robin\nexcept b c\nprotocol dns force_tcp\n}',
      today: '. | forward . a { policy round_robin ; except b c ; force_tcp }',
      notices: ['2:1: "proxy" is gone since CoreDNS 1.5.0; read as "forward"'],
    },
    {
      name: 'reads policies of proxy',
      text: 'proxy . a {\npolicy first\n}\nproxy . b {\npolicy least_conn\nprotocol dns\n}',
      today: '. | forward . a { policy sequential } | forward . b { policy random }',
      notices: [
        '2:1: "proxy" is gone since CoreDNS 1.5.0; read as "forward"',
        '3:8: "first" of "proxy" is "sequential" of "forward"',
        '5:1: "proxy" is gone since CoreDNS 1.5.0; read as "forward"',
        '6:8: "least_conn" of "proxy" has no equal in "forward"; read as "random"',
      ],
    },
    {
      name: 'leaves out what proxy had and forward has not',
      text:
        'proxy . a {\nspray\nfail_timeout 10s\nmax_fails 1\nhealth_check /health:8080\n' +
        'protocol https_google\n}',
      today: '. | forward . a',
      notices: [
        '2:1: "proxy" is gone since CoreDNS 1.5.0; read as "forward"',
        '3:1: "spray" of "proxy" has no equal: when all upstreams are down, "forward" tries one; ' +
          'it is left out',
        '4:1: "fail_timeout" of "proxy" has no equal in "forward", which looks after its ' +
          'upstreams; it is left out',
        '5:1: "max_fails" of "proxy" counts other failures than that of "forward"; it is left out',
        '6:1: "health_check" of "proxy" asks over HTTP; "forward" asks a question every 0.5 s; it ' +
          'is left out',
        '7:10: "https_google" is gone since CoreDNS 1.2.0; the upstreams are asked by DNS',
      ],
    },
    {
      name: 'leaves a protocol that nobody speaks, to be refused',
      text: 'proxy . a {\nprotocol grpc\n}',
      today: '. | forward . a { protocol grpc }',
      notices: ['2:1: "proxy" is gone since CoreDNS 1.5.0; read as "forward"'],
    },
    {
      name: 'leaves out old options of kubernetes',
      text: 'kubernetes a {\nupstream /etc/resolv.conf\nresyncperiod 5m\nttl 5\n}',
      today: '. | kubernetes a { ttl 5 }',
      notices: [
        '3:1: "upstream" is gone since CoreDNS 1.7.0: names are resolved through the whole ' +
          'server; it is left out',
        '4:1: "resyncperiod" is gone since CoreDNS 1.7.0: the API server tells of every change; ' +
          'it is left out',
      ],
    },
    {
      name: 'makes a plugin of the transfers of kubernetes',
      text: 'kubernetes a b {\ntransfer to * 192.0.2.1\n}',
      today: '. | kubernetes a b | transfer a b { to * 192.0.2.1 }',
      notices: [
        '3:1: "transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" beside "kubernetes"',
      ],
    },
    {
      name: 'makes a plugin of the transfers of file, without the file',
      text: 'file db a {\ntransfer to *\nupstream\nno_reload\n}',
      today: '. | file db a { reload 0 } | transfer a { to * }',
      notices: [
        '3:1: "transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" beside "file"',
        `4:1: ${UPSTREAM}`,
        '5:1: "no_reload" is gone since CoreDNS 1.5.0; read as "reload 0"',
      ],
    },
    {
      name: 'keeps where secondary transfers from',
      text: 'secondary a {\ntransfer from 192.0.2.1\ntransfer to *\n}',
      today: '. | secondary a { transfer from 192.0.2.1 } | transfer a { to * }',
      notices: [
        '4:1: "transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" beside "secondary"',
      ],
    },
    {
      name: 'makes an option of the time of auto',
      text: 'auto a {\ndirectory /z (.*) {1} 60\n}',
      today: '. | auto a { directory /z (.*) {1} ; reload 60s }',
      notices: ['3:23: the time is an option of its own since CoreDNS 1.5.0; read as "reload 60s"'],
    },
    {
      name: 'leaves out what etcd and template do nothing with',
      text: 'etcd a {\nstubzones\ndebug\nupstream b\npath /c\n}\ntemplate IN A {\nupstream\n}',
      today: '. | etcd a { path /c } | template IN A',
      notices: [
        '3:1: "stubzones" does nothing in CoreDNS today; it is left out',
        '4:1: "debug" does nothing in CoreDNS today; it is left out',
        `5:1: ${UPSTREAM}`,
        `9:1: ${UPSTREAM}`,
      ],
    },
    {
      name: 'says of what header sets flags',
      text: 'header {\nset ra\nresponse clear aa\n}',
      today: '. | header { response set ra ; response clear aa }',
      notices: ['3:1: "set" needs to say of what since CoreDNS 1.12.4; read as "response set ra"'],
    },
    {
      name: 'leaves out plugins that are gone',
      text: 'startup /bin/true\nfederation a {\nb c\n}\nshutdown x\nlog',
      today: '. | log',
      notices: [
        '2:1: "startup" is gone since CoreDNS 1.1.0: no command is run; leave it out',
        '3:1: "federation" is gone since CoreDNS 1.7.0: names of federations have no answers; ' +
          'leave it out',
        '6:1: "shutdown" is gone since CoreDNS 1.1.0: no command is run; leave it out',
      ],
    },
    {
      name: 'leaves out what OpenShift has of its own, which changes no answer',
      text: 'ocp_dnsnameresolver {\nnamespaces openshift-dns\n}\nlog',
      today: '. | log',
      notices: [
        '2:1: "ocp_dnsnameresolver" keeps DNSNameResolver objects up to date, which is not done ' +
          'here; leave it out',
      ],
    },
    {
      name: 'is not misled by what every object has',
      text: 'constructor {\ntoString\n}\nkubernetes {\nconstructor\n}',
      today: '. | constructor { toString } | kubernetes { constructor }',
      notices: [],
    },
  ]
  for (const { name, text, today, notices } of cases) {
    test(name, () => {
      const { blocks, warnings } = readCorefile(`. {\n${text}\n}`, COREFILE, sourceOf())
      assert.deepEqual(blocks.map(outline), [today])
      assert.deepEqual(
        warnings.map(({ line, column, message }) => `${line}:${column}: ${message}`),
        notices,
      )
    })
  }
})
