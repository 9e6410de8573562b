import { openMemory } from '../stores.ts'
import { streamsFrontContract } from '../contract/streams-front.contract.ts'

streamsFrontContract('pglite', openMemory)
