// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Answers as Aave's Pool does for one account after the other; what is owed and what covers it can be set.
contract Pool {
    struct Account {
        uint256 collateral;
        uint256 debt;
        uint256 threshold;
    }

    mapping(address => Account) private accounts;

    function set(address owner, uint256 collateral, uint256 debt, uint256 threshold) external {
        accounts[owner] = Account(collateral, debt, threshold);
    }

    /// Worth and debt with 8 decimals, the threshold in hundredths of a percent, the health factor with 18.
    function getUserAccountData(address owner)
        external
        view
        returns (uint256, uint256, uint256, uint256, uint256, uint256)
    {
        Account memory one = accounts[owner];
        uint256 factor = one.debt == 0
            ? type(uint256).max
            : one.collateral * one.threshold * 1e18 / 10000 / one.debt;
        return (one.collateral, one.debt, 0, one.threshold, 0, factor);
    }
}

/// Answers as Compound's Comet does; collaterals, prices and debts can be set.
contract Comet {
    struct AssetInfo {
        uint8 offset;
        address asset;
        address priceFeed;
        uint64 scale;
        uint64 borrowCollateralFactor;
        uint64 liquidateCollateralFactor;
        uint64 liquidationFactor;
        uint128 supplyCap;
    }

    AssetInfo[] private assets;
    mapping(address => uint256) private prices;
    mapping(address => mapping(address => uint128)) public collateralBalanceOf;
    mapping(address => uint256) public borrowBalanceOf;
    address public immutable baseTokenPriceFeed = address(0xbeef);
    uint256 public immutable baseScale = 1e6;

    function numAssets() external view returns (uint8) {
        return uint8(assets.length);
    }

    function getAssetInfo(uint8 at) external view returns (AssetInfo memory) {
        return assets[at];
    }

    function getPrice(address feed) external view returns (uint256) {
        require(prices[feed] > 0, "BadPrice");
        return prices[feed];
    }

    function list(address asset, address feed, uint64 scale, uint64 factor) external {
        assets.push(AssetInfo(uint8(assets.length), asset, feed, scale, factor / 2, factor, factor, 1e30));
    }

    function price(address feed, uint256 value) external {
        prices[feed] = value;
    }

    function put(address owner, address asset, uint128 amount) external {
        collateralBalanceOf[owner][asset] = amount;
    }

    function owe(address owner, uint256 amount) external {
        borrowBalanceOf[owner] = amount;
    }

    /// The sum as Comet itself reckons it, to hold ours against.
    function isLiquidatable(address owner) external view returns (bool) {
        uint256 worth = 0;
        for (uint256 at = 0; at < assets.length; at++) {
            AssetInfo memory one = assets[at];
            uint256 value = uint256(collateralBalanceOf[owner][one.asset]) * prices[one.priceFeed] / one.scale;
            worth += value * one.liquidateCollateralFactor / 1e18;
        }
        return worth < borrowBalanceOf[owner] * prices[baseTokenPriceFeed] / baseScale;
    }
}
