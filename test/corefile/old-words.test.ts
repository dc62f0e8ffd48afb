import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readCorefile } from '../../src/corefile/parse-corefile.ts'
import { COREFILE, outline, sourceOf } from './source.ts'

type Case = { name: string; text: string; today: string; notices: string[] }

const UPSTREAM =
  '"upstream" has no effect in current CoreDNS, which resolves names through the whole server; ignored'

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
      notices: ['2:1: "proxy" was removed in CoreDNS 1.5.0; read as "forward"'],
    },
    {
      name: 'reads the options of proxy that forward has',
      text: 'proxy . a {\npolicy round_robin\nexcept b c\nprotocol dns force_tcp\n}',
      today: '. | forward . a { policy round_robin ; except b c ; force_tcp }',
      notices: ['2:1: "proxy" was removed in CoreDNS 1.5.0; read as "forward"'],
    },
    {
      name: 'reads policies of proxy',
      text: 'proxy . a {\npolicy first\n}\nproxy . b {\npolicy least_conn\nprotocol dns\n}',
      today: '. | forward . a { policy sequential } | forward . b { policy random }',
      notices: [
        '2:1: "proxy" was removed in CoreDNS 1.5.0; read as "forward"',
        '3:8: "first" of "proxy" is read as "sequential" of "forward"',
        '5:1: "proxy" was removed in CoreDNS 1.5.0; read as "forward"',
        '6:8: "least_conn" of "proxy" has no equivalent in "forward"; read as "random"',
      ],
    },
    {
      name: 'leaves out what proxy had and forward has not',
      text:
        'proxy . a {\nspray\nfail_timeout 10s\nmax_fails 1\nhealth_check /health:8080\n' +
        'protocol https_google\n}',
      today: '. | forward . a',
      notices: [
        '2:1: "proxy" was removed in CoreDNS 1.5.0; read as "forward"',
        '3:1: "spray" of "proxy" has no equivalent; "forward" tries one upstream if all are down; ' +
          'ignored',
        '4:1: "fail_timeout" of "proxy" has no equivalent in "forward", which checks its ' +
          'upstreams; ignored',
        '5:1: "max_fails" of "proxy" counts other failures than that of "forward"; ignored',
        '6:1: "health_check" of "proxy" uses HTTP; "forward" sends a DNS query every 0.5 s; ' +
          'ignored',
        '7:10: "https_google" was removed in CoreDNS 1.2.0; queries are sent over DNS',
      ],
    },
    {
      name: 'leaves out protocols of proxy that forward has not',
      text: 'proxy . a {\nprotocol grpc insecure\n}\nproxy . b {\nprotocol\n}',
      today: '. | forward . a | forward . b',
      notices: [
        '2:1: "proxy" was removed in CoreDNS 1.5.0; read as "forward"',
        '3:10: "protocol grpc" of "proxy" has no equivalent in "forward"; queries are sent over DNS',
        '5:1: "proxy" was removed in CoreDNS 1.5.0; read as "forward"',
        '6:1: "protocol" of "proxy" has no equivalent in "forward"; queries are sent over DNS',
      ],
    },
    {
      name: 'reads the networks of kubernetes before CoreDNS 1.0 as zones',
      text: 'kubernetes a {\ncidrs 10.0.0.0/16 10.1.0.0/16\nautopath 1 NOERROR\n}',
      today: '. | kubernetes a 10.0.0.0/16 10.1.0.0/16',
      notices: [
        '3:1: "cidrs" was removed before CoreDNS 1.0; read as zones of "kubernetes"',
        '4:1: "autopath" of "kubernetes" is a plugin since CoreDNS 1.0; write "autopath @kubernetes" beside it; ignored',
      ],
    },
    {
      name: 'leaves out old options of kubernetes',
      text: 'kubernetes a {\nupstream /etc/resolv.conf\nresyncperiod 5m\nttl 5\n}',
      today: '. | kubernetes a { ttl 5 }',
      notices: [
        '3:1: "upstream" was removed in CoreDNS 1.7.0, which resolves names through the whole ' +
          'server; ignored',
        '4:1: "resyncperiod" was removed in CoreDNS 1.7.0, which watches every change; ' +
          'ignored',
      ],
    },
    {
      name: 'makes a plugin of the transfers of kubernetes',
      text: 'kubernetes a b {\ntransfer to * 192.0.2.1\n}',
      today: '. | kubernetes a b | transfer a b { to * 192.0.2.1 }',
      notices: [
        '3:1: "transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" next to "kubernetes"',
      ],
    },
    {
      name: 'makes a plugin of the transfers of file, without the file',
      text: 'file db a {\ntransfer to *\nupstream\nno_reload\n}',
      today: '. | file db a { reload 0 } | transfer a { to * }',
      notices: [
        '3:1: "transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" next to "file"',
        `4:1: ${UPSTREAM}`,
        '5:1: "no_reload" was removed in CoreDNS 1.5.0; read as "reload 0"',
      ],
    },
    {
      name: 'keeps where secondary transfers from',
      text: 'secondary a {\ntransfer from 192.0.2.1\ntransfer to *\n}',
      today: '. | secondary a { transfer from 192.0.2.1 } | transfer a { to * }',
      notices: [
        '4:1: "transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" next to "secondary"',
      ],
    },
    {
      name: 'makes an option of the time of auto',
      text: 'auto a {\ndirectory /z (.*) {1} 60\n}',
      today: '. | auto a { directory /z (.*) {1} ; reload 60s }',
      notices: ['3:23: the interval is an option since CoreDNS 1.5.0; read as "reload 60s"'],
    },
    {
      name: 'leaves out what etcd and template do nothing with',
      text: 'etcd a {\nstubzones\ndebug\nupstream b\npath /c\n}\ntemplate IN A {\nupstream\n}',
      today: '. | etcd a { path /c } | template IN A',
      notices: [
        '3:1: "stubzones" has no effect in current CoreDNS; ignored',
        '4:1: "debug" has no effect in current CoreDNS; ignored',
        `5:1: ${UPSTREAM}`,
        `9:1: ${UPSTREAM}`,
      ],
    },
    {
      name: 'says of what header sets flags',
      text: 'header {\nset ra\nresponse clear aa\n}',
      today: '. | header { response set ra ; response clear aa }',
      notices: [
        '3:1: "set" needs "query" or "response" since CoreDNS 1.12.4; read as "response set ra"',
      ],
    },
    {
      name: 'leaves out plugins that are gone',
      text: 'startup /bin/true\nfederation a {\nb c\n}\nshutdown x\nlog',
      today: '. | log',
      notices: [
        '2:1: "startup" was removed in CoreDNS 1.1.0; kubedoh runs no commands; remove it',
        '3:1: "federation" was removed in CoreDNS 1.7.0; federation names get no answers; ' +
          'remove it',
        '6:1: "shutdown" was removed in CoreDNS 1.1.0; kubedoh runs no commands; remove it',
      ],
    },
    {
      name: 'leaves out what OpenShift has of its own, which changes no answer',
      text: 'ocp_dnsnameresolver {\nnamespaces openshift-dns\n}\nlog',
      today: '. | log',
      notices: [
        '2:1: "ocp_dnsnameresolver" updates DNSNameResolver objects, which kubedoh does not do; ' +
          'remove it',
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
