import { testRecordedAnswers } from './recorded-answers.ts'
import { openDohApp } from './transports.ts'

testRecordedAnswers({ name: 'the app for HTTPS', open: openDohApp, isDoh: true })
