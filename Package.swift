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
        .target(name: "Panel", dependencies: ["Takes", "Transport"], swiftSettings: strict),
        .target(name: "Ring", dependencies: ["Takes"], swiftSettings: strictMemory),

        .systemLibrary(name: "CGPIOD", pkgConfig: "libgpiod", providers: [.apt(["libgpiod-dev"])]),
        .target(name: "Lines", dependencies: ["Takes", "CGPIOD"], swiftSettings: strictMemory),

        .testTarget(name: "PanelTests", dependencies: ["Panel", "Takes", "Transport"], swiftSettings: strict),
        .testTarget(name: "LinesTests", dependencies: ["Lines", "Takes"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
