import { testRecordedAnswers } from './recorded-answers.ts'
import { openSockets } from './transports.ts'

testRecordedAnswers({ name: 'sockets', open: openSockets, isDoh: false })
