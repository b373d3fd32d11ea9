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

let package = Package(
    name: "fieldfare",
    products: [
        .executable(name: "fieldfare-recorder", targets: ["fieldfare-recorder"]),
        .executable(name: "fieldfare-library", targets: ["fieldfare-library"]),
        .executable(name: "fieldfare", targets: ["fieldfare"]),
    ],
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
    targets: [
        // System libraries and thin C shims.
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        .systemLibrary(name: "CGPIOD", pkgConfig: "libgpiod", providers: [.apt(["libgpiod-dev"])]),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CSoxr", pkgConfig: "soxr", providers: [.apt(["libsoxr-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CFloat"),
        .target(name: "CSHA256", cSettings: [.unsafeFlags(["-O3"])]),
        .target(name: "CTOML"),
        .target(name: "CSoundTouch", linkerSettings: [.linkedLibrary("SoundTouch")]),

        // Pure: no devices, no files.
        .target(name: "Takes", swiftSettings: strict),
        .target(name: "Transport", dependencies: ["Takes"], swiftSettings: strict),
        .target(name: "Panel", dependencies: ["Takes", "Transport"], swiftSettings: strict),
        .target(name: "Filters", dependencies: ["Takes", "CFloat"], swiftSettings: strictMemory),
        .target(name: "Ring", dependencies: ["Takes", "CLinux"], swiftSettings: strictMemory),
        .target(name: "Workers", dependencies: ["Takes", "CLinux"], swiftSettings: strictMemory),

        .target(name: "Live", dependencies: ["Takes", "Filters", "Ring"], swiftSettings: strictMemory),

        // Each at one edge of the machine.
        .target(
            name: "SoundCard", dependencies: ["Takes", "Ring", "Workers", "CALSA"],
            swiftSettings: strictMemory),
        .target(name: "Lines", dependencies: ["Takes", "CGPIOD"], swiftSettings: strictMemory),
        .target(
            name: "TakeFiles", dependencies: ["Takes", "Filters", "CSndFile", "CSHA256", "CLinux"],
            swiftSettings: strictMemory),
        .target(name: "History", dependencies: ["Takes", "Transport", "TakeFiles"], swiftSettings: strict),
        .target(name: "Settings", dependencies: ["Takes", "CTOML"], swiftSettings: strictMemory),
        .target(
            name: "Playback",
            dependencies: ["Takes", "Filters", "Ring", "Live", "Workers", "TakeFiles", "CSoxr", "CSoundTouch"],
            swiftSettings: strictMemory),
        .target(name: "Control", dependencies: ["Takes", "Transport", "CLinux"], swiftSettings: strictMemory),
        .target(name: "ServiceManager", swiftSettings: strictMemory),
        .target(
            name: "Listening", dependencies: ["Takes", "Filters", "Ring", "Live", "Workers", "Control"],
            swiftSettings: strictMemory),

        // The recorder.
        .target(
            name: "Recording",
            dependencies: ["Takes", "Transport", "Filters", "Ring", "Workers", "TakeFiles"],
            swiftSettings: strictMemory),
        .target(
            name: "Deck",
            dependencies: [
                "Takes", "Transport", "Panel", "Filters", "Ring", "Live", "Workers", "TakeFiles", "Recording",
                "Playback",
            ],
            swiftSettings: strictMemory),
        .target(
            name: "Doctor",
            dependencies: [
                "Takes", "Transport", "Panel", "Filters", "Ring", "SoundCard", "Lines", "TakeFiles", "Settings",
                "CLinux",
            ],
            swiftSettings: strictMemory),
        .target(
            name: "Simulation", dependencies: ["Takes", "Ring", "Workers", "Panel", "CLinux"],
            swiftSettings: strictMemory),
        .target(
            name: "Recorder",
            dependencies: [
                "Takes", "Transport", "Panel", "Filters", "Ring", "Live", "Workers", "SoundCard", "Lines",
                "TakeFiles", "History", "Settings", "Control", "Listening", "ServiceManager", "Deck", "Doctor",
                "Simulation", "CLinux",
            ],
            swiftSettings: strictMemory),
        .executableTarget(
            name: "fieldfare-recorder",
            dependencies: ["Recorder", "Deck", "Settings", "SoundCard", "Takes"],
            swiftSettings: strict),

        // The command line.
        .target(
            name: "Commands",
            dependencies: [
                "Takes", "Transport", "Panel", "Ring", "Settings", "Control", "SoundCard", "Lines", "TakeFiles",
                "History", "Doctor", "Programs", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strictMemory),
        .executableTarget(name: "fieldfare", dependencies: ["Commands"], swiftSettings: strict),

        // The library.
        .target(
            name: "Catalog",
            dependencies: [
                "Takes", "Transport", "TakeFiles", "CLinux", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strictMemory),
        .target(
            name: "Upload",
            dependencies: [
                "Takes", "TakeFiles", "Settings", "Workers", "Digests", "Programs", "CLinux",
            ],
            swiftSettings: strictMemory),
        .target(
            name: "Library",
            dependencies: [
                "Takes", "Transport", "TakeFiles", "Settings", "Control", "Catalog", "Upload", "ServiceManager",
                "Workers", "Digests", "CLinux",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strictMemory),

        .target(name: "Programs", dependencies: ["Takes", "CLinux"], swiftSettings: strictMemory),
        .target(name: "Digests", dependencies: ["COpenSSL"], swiftSettings: strictMemory),
        .target(name: "Exports", dependencies: ["Takes", "TakeFiles", "Digests"], swiftSettings: strictMemory),
        .target(
            name: "WebStores",
            dependencies: [
                "Takes", "TakeFiles", "Settings", "Upload", "Digests",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strictMemory),
        .target(
            name: "Console",
            dependencies: [
                "Takes", "Transport", "TakeFiles", "Settings", "Control", "Catalog", "Library", "Upload", "Workers",
                "Exports", "Digests", "History", "Programs", "CLinux", "CZlib",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Pages")],
            swiftSettings: strictMemory),
        .executableTarget(
            name: "fieldfare-library",
            dependencies: [
                "Library", "Console", "Upload", "WebStores", "Settings", "Takes", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // Benchmarks. The filter's peer is optimised as a C program would be.
        .target(name: "CReferenceFilter", cSettings: [.unsafeFlags(["-O3"])]),
        .executableTarget(
            name: "filter-bench", dependencies: ["Filters", "Takes", "CReferenceFilter"], swiftSettings: strictMemory),
        .executableTarget(
            name: "capture-bench",
            dependencies: ["Recording", "Filters", "Ring", "Workers", "SoundCard", "TakeFiles", "Takes"],
            swiftSettings: strict),

        // Feeds hostile input to all parts that read foreign data.
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "Settings", "Control", "SoundCard", "TakeFiles", "Filters", "Takes", "Transport", "SeededRandom",
                "TakePlaces",
            ],
            path: "Tests/Fuzz", swiftSettings: strict),

        // Tests.
        .target(name: "CAllocationCount", path: "Tests/CAllocationCount"),
        .target(
            name: "ScriptedPlayback", dependencies: ["Takes", "Ring"], path: "Tests/ScriptedPlayback",
            swiftSettings: strict),
        .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: strict),
        .target(name: "TakePlaces", dependencies: ["Takes"], path: "Tests/TakePlaces", swiftSettings: strict),
        .target(
            name: "PowerCuts", dependencies: ["Takes", "TakeFiles", "SeededRandom"], path: "Tests/PowerCuts",
            swiftSettings: strict),
        .target(
            name: "FinishedTakes", dependencies: ["Takes", "TakeFiles", "Catalog"], path: "Tests/FinishedTakes",
            swiftSettings: strict),
        .target(name: "OtherPrograms", path: "Tests/OtherPrograms", swiftSettings: strict),
        .target(
            name: "StoreTrials", dependencies: ["Upload", "Digests", "SeededRandom", "OtherPrograms"],
            path: "Tests/StoreTrials", swiftSettings: strict),
        .testTarget(name: "TakesTests", dependencies: ["Takes"], swiftSettings: strict),
        .testTarget(
            name: "TransportTests", dependencies: ["Takes", "Transport", "SeededRandom"], swiftSettings: strict),
        .testTarget(
            name: "PanelTests", dependencies: ["Panel", "Takes", "Transport", "SeededRandom"], swiftSettings: strict),
        .testTarget(
            name: "FiltersTests", dependencies: ["Filters", "Takes", "CAllocationCount", "SeededRandom"],
            exclude: ["Resources"], swiftSettings: strict),
        .testTarget(
            name: "RingTests", dependencies: ["Ring", "Workers", "Takes", "SeededRandom"], swiftSettings: strict),
        .testTarget(name: "WorkersTests", dependencies: ["Workers", "Takes"], swiftSettings: strict),
        .testTarget(
            name: "SoundCardTests",
            dependencies: ["SoundCard", "Takes", "Ring", "Workers", "CALSA", "CAllocationCount", "SeededRandom"],
            swiftSettings: strict),
        .testTarget(name: "LinesTests", dependencies: ["Lines", "Takes"], swiftSettings: strict),
        .testTarget(
            name: "TakeFilesTests",
            dependencies: [
                "TakeFiles", "Filters", "Takes", "CSHA256", "SeededRandom", "TakePlaces", "PowerCuts",
                "CAllocationCount", "OtherPrograms",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HistoryTests", dependencies: ["History", "TakeFiles", "Takes", "Transport", "PowerCuts"],
            swiftSettings: strict),
        .testTarget(name: "SettingsTests", dependencies: ["Settings", "Takes", "SeededRandom"], swiftSettings: strict),
        .testTarget(
            name: "ControlTests", dependencies: ["Takes", "Transport", "Control", "SeededRandom"],
            swiftSettings: strictMemory),
        .testTarget(
            name: "ListeningTests",
            dependencies: ["Listening", "Live", "Control", "Takes", "Filters", "Ring", "Workers"],
            swiftSettings: strictMemory),
        .testTarget(
            name: "PlaybackTests",
            dependencies: [
                "Playback", "Takes", "Filters", "Ring", "Live", "Workers", "TakeFiles", "ScriptedPlayback",
                "SeededRandom",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RecordingTests",
            dependencies: [
                "Recording", "Takes", "Transport", "Filters", "Ring", "Workers", "TakeFiles", "SeededRandom",
                "TakePlaces", "PowerCuts",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DeckTests",
            dependencies: [
                "Deck", "Recording", "Takes", "Transport", "Panel", "Filters", "Ring", "Workers", "TakeFiles",
                "Playback", "ScriptedPlayback", "SeededRandom", "TakePlaces", "PowerCuts",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DoctorTests",
            dependencies: [
                "Doctor", "Takes", "Transport", "Panel", "Filters", "Ring", "SoundCard", "Lines", "TakeFiles",
                "Settings",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests", dependencies: ["Simulation", "Takes", "Ring", "Workers", "Panel", "CLinux"],
            swiftSettings: strict),
        .testTarget(
            name: "RecorderTests",
            dependencies: [
                "Recorder", "Takes", "Transport", "Deck", "Panel", "Filters", "Ring", "Workers", "SoundCard", "Lines",
                "TakeFiles", "History", "Settings", "Control", "Doctor", "ServiceManager", "Simulation",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CatalogTests",
            dependencies: [
                "Catalog", "TakeFiles", "Takes", "Transport", "SeededRandom", "FinishedTakes",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "UploadTests",
            dependencies: [
                "Upload", "Settings", "TakeFiles", "Takes", "Digests", "FinishedTakes", "SeededRandom", "PowerCuts",
                "StoreTrials", "OtherPrograms",
            ],
            swiftSettings: strict),
        .testTarget(name: "ProgramsTests", dependencies: ["Programs", "Takes"], swiftSettings: strict),
        .testTarget(name: "DigestsTests", dependencies: ["Digests", "OtherPrograms"], swiftSettings: strict),
        .testTarget(
            name: "ExportsTests",
            dependencies: [
                "Exports", "Digests", "TakeFiles", "Takes", "TakePlaces", "FinishedTakes", "SeededRandom",
                "OtherPrograms",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LibraryTests",
            dependencies: [
                "Library", "Catalog", "Upload", "Control", "Commands", "Settings", "TakeFiles", "Takes", "Transport",
                "Workers", "TakePlaces", "PowerCuts", "FinishedTakes", "OtherPrograms",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ConsoleTests",
            dependencies: [
                "Console", "Control", "Exports", "History", "TakeFiles", "Takes", "Transport", "Workers",
                "TakePlaces", "FinishedTakes", "PowerCuts", "StoreTrials", "OtherPrograms",
                .product(name: "NIOCore", package: "swift-nio"),
                // They are started.
                "fieldfare-library", "fieldfare-recorder",
            ],
            exclude: ["Resources"],
            swiftSettings: strict),
        .testTarget(
            name: "WebStoresTests",
            dependencies: [
                "WebStores", "Upload", "Settings", "TakeFiles", "Takes", "Digests", "SeededRandom", "StoreTrials",
                "FinishedTakes", "OtherPrograms",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            exclude: ["Resources"], swiftSettings: strict),
        .testTarget(
            name: "CommandsTests",
            dependencies: [
                "Takes", "Transport", "Panel", "Ring", "Workers", "Lines", "TakeFiles", "History", "Control", "Doctor",
                "Settings", "Programs", "Commands", "TakePlaces", "PowerCuts", "OtherPrograms",
            ],
            swiftSettings: strictMemory),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

/// `FIELDFARE_TESTS="Ring Deck fieldfare-recorder"` leaves out all that these tests and programs do not need: for builds of their own, with
/// a sanitizer or for another processor.
if let chosen = Context.environment["FIELDFARE_TESTS"] {
    var needed: Set<String> = []
    let programs = package.targets.filter { $0.type == .executable }.map(\.name)
    var found = chosen.split(separator: " ").map(String.init).map { programs.contains($0) ? $0 : "\($0)Tests" }
    while let name = found.popLast() {
        guard let target = package.targets.first(where: { $0.name == name }) else {
            fatalError("FIELDFARE_TESTS: there is no target \(name)")
        }
        guard needed.insert(name).inserted else { continue }
        found += target.dependencies.compactMap {
            if case .byNameItem(let name, _) = $0 { name } else { nil }
        }
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
