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
        .executable(name: "fieldfare", targets: ["fieldfare"]),
        .library(name: "Takes", targets: ["Takes"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        .target(name: "Takes", swiftSettings: strict),
        .target(name: "Transport", dependencies: ["Takes"], swiftSettings: strict),
        .target(name: "Panel", dependencies: ["Takes", "Transport"], swiftSettings: strict),
        .target(name: "Ring", dependencies: ["Takes"], swiftSettings: strictMemory),
        .testTarget(name: "RingTests", dependencies: ["Ring", "Takes"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
