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
        .systemLibrary(name: "CLinux"),
        .target(name: "Takes", swiftSettings: strict),
        .target(name: "Transport", dependencies: ["Takes"], swiftSettings: strict),
        .target(name: "Ring", dependencies: ["Takes"], swiftSettings: strictMemory),
        .target(name: "Control", dependencies: ["Takes", "Transport", "CLinux"], swiftSettings: strictMemory),
        .target(
            name: "Commands",
            dependencies: [
                "Takes", "Transport", "Control", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strictMemory),
        .executableTarget(name: "fieldfare", dependencies: ["Commands"], swiftSettings: strict),
        .testTarget(name: "TransportTests", dependencies: ["Takes", "Transport"], swiftSettings: strict),
        .testTarget(
            name: "ControlTests", dependencies: ["Takes", "Transport", "Control"], swiftSettings: strictMemory),
        .testTarget(
            name: "CommandsTests", dependencies: ["Takes", "Transport", "Ring", "Control", "Commands"],
            swiftSettings: strictMemory),
    ],
    swiftLanguageModes: [.v6]
)
