// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]
/// Where memory is reached by pointer, every use of one is marked `unsafe`.
let strictMemory = strict + [.strictMemorySafety()]

/// The products that targets use of the packages below.
let products = [
    "swift-argument-parser": "ArgumentParser", "GRDB.swift": "GRDB", "swift-log": "Logging",
    "swift-service-lifecycle": "ServiceLifecycle UnixSignals", "swift-async-algorithms": "AsyncAlgorithms",
    "async-http-client": "AsyncHTTPClient", "swift-nio": "NIOCore NIOHTTP1 NIOPosix", "swift-nio-ssl": "NIOSSL",
    "hummingbird": "Hummingbird HummingbirdCore", "swift-http-types": "HTTPTypes",
    "swift-nio-extras": "NIOHTTPTypes NIOHTTPTypesHTTP1",
]

/// The targets and products that these texts name, with spaces between.
func dependencies(_ texts: [String]) -> [Target.Dependency] {
    func names(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
    return texts.flatMap(names).map { name in
        let package = products.first { names($0.value).contains(name) }?.key
        return package.map { .product(name: name, package: $0) } ?? .byName(name: name)
    }
}

func module(
    _ name: String, _ uses: String..., exclude: [String] = [], settings: [SwiftSetting] = strictMemory
) -> Target {
    .target(name: name, dependencies: dependencies(uses), exclude: exclude, swiftSettings: settings)
}

func program(
    _ name: String, _ uses: String..., path: String? = nil, settings: [SwiftSetting] = strict
) -> Target {
    .executableTarget(name: name, dependencies: dependencies(uses), path: path, swiftSettings: settings)
}

func support(_ name: String, _ uses: String...) -> Target {
    .target(name: name, dependencies: dependencies(uses), path: "Tests/Support/\(name)", swiftSettings: strict)
}

/// Every target of tests may use `TestBench`.
func tests(_ name: String, _ uses: String..., exclude: [String] = [], settings: [SwiftSetting] = strict) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies([name, "TestBench"] + uses), exclude: exclude,
        swiftSettings: settings)
}

/// The targets of each layer: folders of `Sources` and `Tests`. `Sources/README.md` says which layers one may import.
let layers: KeyValuePairs<String, [Target]> = [
    "C": [
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        .systemLibrary(name: "CGPIOD", pkgConfig: "libgpiod", providers: [.apt(["libgpiod-dev"])]),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CSoxr", pkgConfig: "soxr", providers: [.apt(["libsoxr-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CFloat"),
        .target(name: "CEmptyICU"),
        .target(name: "CPages"),
        .target(name: "CSHA256", cSettings: [.unsafeFlags(["-O3"])]),
        .target(name: "CTOML"),
        .target(name: "CSoundTouch", linkerSettings: [.linkedLibrary("SoundTouch")]),
    ],
    "Core": [
        module("Takes", settings: strict),
        module("Transport", "Takes", settings: strict),
        module("Panel", "Takes Transport", settings: strict),
        module("Filters", "Takes CFloat"),
        module("Ring", "Takes CLinux"),
        module("Live", "Takes Filters Ring"),
        tests("Takes"),
        tests("Transport", "Takes SeededRandom"),
        tests("Panel", "Takes Transport SeededRandom"),
        tests("Filters", "Takes CAllocationCount SeededRandom", exclude: ["Resources"]),
        tests("Ring", "Takes Workers SeededRandom"),
    ],
    "System": [
        module("Files", "Takes CLinux"),
        module("Sockets", "Takes CLinux"),
        module("Workers", "Takes CLinux"),
        module("Programs", "Takes CLinux"),
        module("ServiceManager", "Takes"),
        tests("Files", "Takes PowerCuts"),
        tests("Sockets", settings: strictMemory),
        tests("Workers", "Takes"),
        tests("Programs", "Takes"),
    ],
    "Common": [
        module("TakeFiles", "Takes Filters Files CSndFile CLinux CSHA256"),
        module("History", "Takes Transport Files", settings: strict),
        module("Settings", "Takes CTOML"),
        module("Control", "Takes Transport Sockets"),
        tests(
            "TakeFiles", "Takes Filters Files CAllocationCount SeededRandom OtherPrograms TakePlaces PowerCuts",
            "CSHA256"),
        tests("History", "Takes Transport Files PowerCuts"),
        tests("Settings", "Takes SeededRandom"),
        tests("Control", "Takes Transport Sockets SeededRandom", settings: strictMemory),
    ],
    "Devices": [
        module("SoundCard", "Takes Ring Files Workers CALSA"),
        module("Lines", "Takes CGPIOD"),
        module("Simulation", "Takes Panel Ring Workers CLinux"),
        module("Doctor", "Takes Transport Panel Filters Ring Files TakeFiles Settings SoundCard Lines CLinux"),
        tests("SoundCard", "Takes Ring Workers CAllocationCount SeededRandom CALSA"),
        tests("Lines", "Takes"),
        tests("Simulation", "Takes Panel Ring Workers CLinux"),
        tests("Doctor", "Takes Transport Panel Filters Ring Files Settings SoundCard Lines"),
    ],
    "Recorder": [
        module("Recording", "Takes Transport Filters Ring Files Workers TakeFiles"),
        module("Playback", "Takes Filters Ring Live Workers TakeFiles CSoxr CSoundTouch"),
        module("Listening", "Takes Filters Ring Live Sockets Workers Control"),
        module("Deck", "Takes Transport Panel Filters Ring Live Files Workers TakeFiles Recording Playback"),
        module("Kit", "Takes Transport Files Workers History Settings Lines Doctor Deck CLinux"),
        module(
            "Recorder", "Takes Transport Panel Filters Ring Live Files Workers ServiceManager History Settings Control",
            "SoundCard Lines Simulation Doctor Listening Deck Kit CLinux"),
        program("fieldfare-recorder", "Takes Settings SoundCard Deck Recorder"),
        tests("Recording", "Takes Transport Filters Ring Files Workers TakeFiles SeededRandom TakePlaces PowerCuts"),
        tests("Playback", "Takes Filters Ring Live Workers TakeFiles SeededRandom ScriptedPlayback"),
        tests("Listening", "Takes Filters Ring Live Sockets Workers Control", settings: strictMemory),
        tests(
            "Deck", "Takes Transport Panel Filters Ring Files Workers TakeFiles Recording Playback SeededRandom",
            "TakePlaces ScriptedPlayback PowerCuts"),
        tests("Kit", "Takes Transport History Settings Doctor Deck"),
        tests(
            "Recorder", "Takes Transport Panel Ring Files Workers ServiceManager History Settings Control SoundCard",
            "Lines Simulation Doctor Deck Kit"),
    ],
    "Library": [
        module("Digests", "COpenSSL"),
        module("Catalog", "Takes Transport Files TakeFiles CLinux GRDB"),
        module("Upload", "Takes Files Workers Programs TakeFiles Settings Digests CLinux"),
        module("WebStores", "Takes Settings Digests Upload AsyncHTTPClient NIOCore NIOHTTP1 NIOPosix NIOSSL"),
        module("Exports", "Takes Files TakeFiles Digests Spectra"),
        module("Spectra", "Takes Files"),
        module(
            "Library", "Takes Transport Files Workers ServiceManager TakeFiles Settings Control Digests Catalog Upload",
            "Spectra CLinux Logging AsyncAlgorithms ServiceLifecycle UnixSignals"),
        module(
            "Console", "Takes Transport Files Workers Programs TakeFiles History Settings Control Digests Catalog",
            "Upload Exports Spectra Library CPages CZlib CLinux Hummingbird HummingbirdCore HTTPTypes NIOCore NIOHTTP1",
            "NIOPosix NIOSSL NIOHTTPTypes NIOHTTPTypesHTTP1 Logging ServiceLifecycle",
            // They are part of CPages.
            exclude: ["Pages"]),
        program("fieldfare-library", "Takes Settings Upload WebStores Library Console CEmptyICU CLinux ArgumentParser"),
        tests("Digests", "OtherPrograms"),
        tests("Catalog", "Takes Transport Files TakeFiles SeededRandom FinishedTakes DiskCalls GRDB"),
        tests(
            "Upload", "Takes Files TakeFiles Settings Digests SeededRandom OtherPrograms PowerCuts FinishedTakes",
            "StoreTrials"),
        tests(
            "WebStores", "Takes Files TakeFiles Settings Digests Upload SeededRandom OtherPrograms FinishedTakes",
            "StoreTrials NIOHTTP1", exclude: ["Resources"]),
        tests(
            "Exports", "Takes Files TakeFiles Digests Spectra SeededRandom OtherPrograms TakePlaces FinishedTakes",
            "DiskCalls"),
        tests("Spectra", "Takes Files CAllocationCount SeededRandom PowerCuts"),
        tests(
            "Library", "Takes Transport Files Workers TakeFiles Settings Control Catalog Upload Spectra Commands",
            "OtherPrograms TakePlaces PowerCuts FinishedTakes StoreTrials DiskCalls GRDB"),
        tests(
            "Console",
            "Takes Transport Files Workers TakeFiles History Settings Control Catalog Exports Spectra Library",
            "OtherPrograms TakePlaces PowerCuts FinishedTakes StoreTrials DiskCalls SeededRandom Upload NIOCore",
            // They are started.
            "fieldfare-recorder fieldfare-library", exclude: ["Resources"]),
    ],
    "CommandLine": [
        module(
            "Commands", "Takes Transport Panel Ring Files Programs TakeFiles History Settings Control SoundCard Lines",
            "Doctor CLinux ArgumentParser"),
        program("fieldfare", "Commands"),
        tests(
            "Commands", "Takes Transport Panel Ring Files Workers Programs TakeFiles History Settings Control Lines",
            "Doctor OtherPrograms TakePlaces PowerCuts", settings: strictMemory),
    ],
    "Benches": [
        // Optimised as a C program would be.
        .target(name: "CReferenceFilter", cSettings: [.unsafeFlags(["-O3"])]),
        program("filter-bench", "Takes Filters CReferenceFilter", settings: strictMemory),
        program("capture-bench", "Takes Filters Ring Workers TakeFiles SoundCard Recording"),
        program("spectra-bench", "Takes Spectra", settings: strictMemory),
    ],
    // Several targets of tests share these.
    "Support": [
        .target(name: "CAllocationCount", path: "Tests/Support/CAllocationCount"),
        .target(name: "CDiskCalls", path: "Tests/Support/CDiskCalls"),
        support("DiskCalls", "Workers OtherPrograms CDiskCalls"),
        support("SeededRandom"),
        support("TestBench", "Takes ServiceManager"),
        support("OtherPrograms"),
        support("TakePlaces", "Takes"),
        support("ScriptedPlayback", "Takes Ring"),
        support("PowerCuts", "Takes Files SeededRandom"),
        support("FinishedTakes", "Takes Files TakeFiles Catalog TestBench"),
        support("StoreTrials", "Takes Files Digests Upload SeededRandom OtherPrograms PowerCuts TestBench"),
        // Feeds hostile input to all parts that read foreign data.
        program(
            "fuzz", "Takes Transport Filters Files TakeFiles Settings Control SoundCard SeededRandom TakePlaces",
            "TestBench", path: "Tests/Fuzz"),
    ],
]

for (layer, targets) in layers {
    for target in targets where target.path == nil {
        target.path = "\(target.type == .test ? "Tests" : "Sources")/\(layer)/\(target.name)"
    }
}

let package = Package(
    name: "fieldfare",
    products: ["fieldfare-recorder", "fieldfare-library", "fieldfare"].map { .executable(name: $0, targets: [$0]) },
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        // Without its traits, so without ICU.
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    ],
    targets: layers.flatMap(\.value),
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

/// `FIELDFARE_TESTS="Ring Deck fieldfare-recorder"` leaves out all that these tests and programs do not need: for builds of their own, with
/// a sanitizer or for another processor.
if let chosen = Context.environment["FIELDFARE_TESTS"] {
    var needed: Set<String> = []
    func need(_ name: String) {
        guard let target = package.targets.first(where: { $0.name == name }) else {
            fatalError("FIELDFARE_TESTS: there is no target \(name)")
        }
        guard needed.insert(name).inserted else { return }
        for case .byNameItem(let name, _) in target.dependencies { need(name) }
    }
    let programs = package.targets.filter { $0.type == .executable }.map(\.name)
    for name in chosen.split(separator: " ").map(String.init) {
        need(programs.contains(name) ? name : "\(name)Tests")
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}

#if compiler(>=6.3)
    // What is tested is optimised as what is shipped is. The tests are not: that takes long, and ends this compiler at one of them.
    for target in package.targets where target.type == .test {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    }
#endif
