import { tracedNightContract } from './traced-night.contract.ts'

tracedNightContract('rows in PGlite')
