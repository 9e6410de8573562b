import { importsLessonsContract } from '../contract/imports-lessons.contract.ts'
import { openMemory } from '../stores.ts'

importsLessonsContract('pglite', openMemory)
