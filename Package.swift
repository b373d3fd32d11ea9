// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]
/// Beside the C libraries every use of unchecked memory is marked `unsafe`.
let strictMemory = strict + [.strictMemorySafety()]

let package = Package(
    name: "fieldfare",
    products: [
        .library(name: "Takes", targets: ["Takes"])
    ],
    targets: [
        .target(name: "Takes", swiftSettings: strict),
        .target(name: "Transport", dependencies: ["Takes"], swiftSettings: strict),
        .target(name: "Ring", dependencies: ["Takes"], swiftSettings: strictMemory),

        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .target(name: "TakeFiles", dependencies: ["Takes", "CSndFile"], swiftSettings: strictMemory),

        .testTarget(name: "TakesTests", dependencies: ["Takes"], swiftSettings: strict),
        .testTarget(
            name: "TakeFilesTests", dependencies: ["TakeFiles", "Takes"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
