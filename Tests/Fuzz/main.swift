// Feeds hostile input to every part that reads foreign data.
//
//   fuzz SURFACE [--count N] [--seed S] [--findings DIR]   N inputs (1000000) of seed S (a new one, which is printed)
//   fuzz SURFACE --replay SEED INDEX                       one of them again
//   fuzz SURFACE --input FILE                              this one
//
// A separate process handles the inputs. An input that ends it, takes more than a second of processor time, hangs, or
// breaks a promise is saved in DIR; the exit status is then 1.
import Foundation

let surfaces: [any Surface.Type] = [
    SettingsSurface.self, ControlSurface.self, SidecarSurface.self, SoundSurface.self, CardSurface.self,
    RecoverySurface.self,
]
let usage =
    "fuzz: usage: fuzz \(surfaces.map { $0.name }.joined(separator: "|")) [--count N] [--seed S] [--findings DIR]"

var arguments = Options(Array(CommandLine.arguments.dropFirst()))
let count = arguments.take("--count").flatMap(UInt64.init) ?? 1_000_000
let seed = arguments.take("--seed").flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999_999)
let findings = arguments.take("--findings") ?? ".build/fuzz"
let first = arguments.take("--first").flatMap(UInt64.init)
let file = arguments.take("--input")
let replay = arguments.take("--replay").flatMap(UInt64.init)
guard let name = arguments.words.first, let surface = surfaces.first(where: { $0.name == name }) else {
    print(usage)
    exit(64)
}

if let replay {
    guard arguments.words.count == 2, let index = UInt64(arguments.words[1]) else {
        print(usage)
        exit(64)
    }
    try Worker(seed: replay, findings: findings).run(surface, from: index, until: index + 1)
} else if let file {
    try Worker(seed: seed, findings: findings).run(surface, input: Array(Data(contentsOf: URL(filePath: file))))
} else if let first {
    try Worker(seed: seed, findings: findings).run(surface, from: first, until: count)
} else {
    exit(try Supervisor(surface: surface, seed: seed, count: count, findings: findings).run() ? 0 : 1)
}
