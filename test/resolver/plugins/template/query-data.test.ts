import { describe } from 'vitest'
import { testOutcomes } from '../../../go/template/run-template.ts'

describe('what templates know of a query', () => {
  testOutcomes([
    [
      '{{ .Name }} {{ .Zone }} {{ .Class }} {{ .Type }} {{ .Remote }}',
      'www.example.org. example.org. IN AAAA 192.0.2.7',
    ],
    ['{{ .Regex }}', '^(www)[.](?P<rest>.*)$'],
    [
      '{{ .Match }} {{ .Group }}',
      '[www.example.org. www example.org.] map[0:www.example.org. 1:www 2:example.org. rest:example.org.]',
    ],
    ['{{ .Question.Name }} {{ .Question.Qtype }} {{ .Question.Qclass }}', 'WWW.Example.org. 28 1'],
    [
      '{{ .Question }}|{{ .Question.String }}',
      ';WWW.Example.org.\tIN\t AAAA|;WWW.Example.org.\tIN\t AAAA',
    ],
    [
      '{{ .Message.Id }} {{ .Message.MsgHdr.RecursionDesired }} {{ .Message.Response }} {{ .Message.Opcode }} {{ .Message.Rcode }}',
      '4711 true false 0 0',
    ],
    [
      '{{ .Message.Authoritative }} {{ .Message.Truncated }} {{ .Message.RecursionAvailable }} {{ .Message.Zero }} {{ .Message.AuthenticatedData }} {{ .Message.CheckingDisabled }} {{ .Message.Compress }}',
      'false false false false false false false',
    ],
    [
      '{{ len .Message.Question }} {{ len .Message.Answer }} {{ len .Message.Ns }} {{ len .Message.Extra }} {{ .Message.Len }}',
      '1 0 0 1 44',
    ],
    [
      '{{ with .Message.IsEdns0 }}{{ .UDPSize }} {{ .Do }} {{ .Version }} {{ len .Option }}{{ end }}',
      '1232 true 0 0',
    ],
    [
      '{{ .Var.n }} {{ .Var.f }} {{ .Var.t }} {{ .Var.list }} {{ .Var.yes }}',
      '42 1.5 text [1 a <nil>] true',
    ],
    ['{{ .Meta "a/b" }} {{ .Meta "x/y" }}.', 'known .'],
    ['{{ .Meta }}', 'error: ".Meta" takes 1 argument(s) or more'],
    ['{{ .Meta 1 }}', 'error: expected string, got int'],
    ['{{ .Message }}', 'error: a dns.Msg cannot be printed'],
  ])
})
